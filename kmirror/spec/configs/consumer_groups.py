"""Config keys of consumer groups (KIP-848)."""

from __future__ import annotations

from kmirror.spec.configs.key import ConfigKey, Kind, Scope

_B = Scope.BROKER
_CONSUMER_GROUPS = "kmirror has no consumer groups of KIP-848"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "group.consumer.assignment.interval.ms", _B, Kind.INT, "1000", minimum=0, dynamic=True,
        no_effect=_CONSUMER_GROUPS,
    ),
    ConfigKey("group.consumer.assignors", _B, Kind.LIST, "uniform,range", no_effect=_CONSUMER_GROUPS),
    ConfigKey("group.consumer.heartbeat.interval.ms", _B, Kind.INT, "5000", minimum=1, no_effect=_CONSUMER_GROUPS),
    ConfigKey(
        "group.consumer.max.assignment.interval.ms", _B, Kind.INT, "15000", minimum=0, no_effect=_CONSUMER_GROUPS,
    ),
    ConfigKey("group.consumer.max.heartbeat.interval.ms", _B, Kind.INT, "15000", minimum=1, no_effect=_CONSUMER_GROUPS),
    ConfigKey("group.consumer.max.session.timeout.ms", _B, Kind.INT, "60000", minimum=1, no_effect=_CONSUMER_GROUPS),
    ConfigKey("group.consumer.max.size", _B, Kind.INT, "2147483647", minimum=1, no_effect=_CONSUMER_GROUPS),
    ConfigKey("group.consumer.migration.policy", _B, Kind.STRING, "bidirectional", no_effect=_CONSUMER_GROUPS),
    ConfigKey("group.consumer.min.assignment.interval.ms", _B, Kind.INT, "0", minimum=0, no_effect=_CONSUMER_GROUPS),
    ConfigKey("group.consumer.min.heartbeat.interval.ms", _B, Kind.INT, "5000", minimum=1, no_effect=_CONSUMER_GROUPS),
    ConfigKey("group.consumer.min.session.timeout.ms", _B, Kind.INT, "45000", minimum=1, no_effect=_CONSUMER_GROUPS),
    ConfigKey("group.consumer.session.timeout.ms", _B, Kind.INT, "45000", minimum=1, no_effect=_CONSUMER_GROUPS),
    ConfigKey(
        "group.coordinator.rebalance.protocols", _B, Kind.LIST, "classic,consumer,streams",
        choices=("consumer", "classic", "share", "streams"), no_effect=_CONSUMER_GROUPS,
    ),
)
# fmt: on
