"""Config keys of streams groups (KIP-1071)."""

from __future__ import annotations

from kmirror.spec.configs.key import ConfigKey, Kind, Scope

_B = Scope.BROKER
_STREAMS_GROUPS = "kmirror has no streams groups"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "group.streams.assignment.interval.ms", _B, Kind.INT, "1000", minimum=0, dynamic=True,
        no_effect=_STREAMS_GROUPS,
    ),
    ConfigKey("group.streams.heartbeat.interval.ms", _B, Kind.INT, "5000", minimum=1, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.initial.rebalance.delay.ms", _B, Kind.INT, "3000", minimum=0, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.max.assignment.interval.ms", _B, Kind.INT, "15000", minimum=0, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.max.heartbeat.interval.ms", _B, Kind.INT, "15000", minimum=1, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.max.session.timeout.ms", _B, Kind.INT, "60000", minimum=1, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.max.size", _B, Kind.INT, "2147483647", minimum=1, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.max.standby.replicas", _B, Kind.INT, "2", minimum=0, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.min.assignment.interval.ms", _B, Kind.INT, "0", minimum=0, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.min.heartbeat.interval.ms", _B, Kind.INT, "5000", minimum=1, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.min.session.timeout.ms", _B, Kind.INT, "45000", minimum=1, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.num.standby.replicas", _B, Kind.INT, "0", minimum=0, no_effect=_STREAMS_GROUPS),
    ConfigKey("group.streams.session.timeout.ms", _B, Kind.INT, "45000", minimum=1, no_effect=_STREAMS_GROUPS),
)
# fmt: on
