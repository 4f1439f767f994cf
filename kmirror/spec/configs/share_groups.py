"""Config keys of share groups (KIP-932)."""

from __future__ import annotations

from kmirror.spec.configs.key import ConfigKey, Kind, Scope

_B = Scope.BROKER
_SHARE_GROUPS = "kmirror has no share groups"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "group.share.assignment.interval.ms", _B, Kind.INT, "1000", minimum=0, dynamic=True, no_effect=_SHARE_GROUPS,
    ),
    ConfigKey("group.share.assignors", _B, Kind.LIST, "simple", no_effect=_SHARE_GROUPS),
    ConfigKey("group.share.delivery.count.limit", _B, Kind.INT, "5", minimum=2, maximum=10, no_effect=_SHARE_GROUPS),
    ConfigKey("group.share.heartbeat.interval.ms", _B, Kind.INT, "5000", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey("group.share.max.assignment.interval.ms", _B, Kind.INT, "15000", minimum=0, no_effect=_SHARE_GROUPS),
    ConfigKey(
        "group.share.max.delivery.count.limit", _B, Kind.INT, "10", minimum=5, maximum=25, no_effect=_SHARE_GROUPS,
    ),
    ConfigKey("group.share.max.heartbeat.interval.ms", _B, Kind.INT, "15000", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey(
        "group.share.max.partition.max.record.locks", _B, Kind.INT, "4000", minimum=2000, maximum=10000,
        no_effect=_SHARE_GROUPS,
    ),
    ConfigKey(
        "group.share.max.record.lock.duration.ms", _B, Kind.INT, "60000", minimum=30000, maximum=3600000,
        no_effect=_SHARE_GROUPS,
    ),
    ConfigKey("group.share.max.session.timeout.ms", _B, Kind.INT, "60000", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey("group.share.max.share.sessions", _B, Kind.INT, "2000", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey("group.share.max.size", _B, Kind.INT, "200", minimum=1, maximum=1000, no_effect=_SHARE_GROUPS),
    ConfigKey("group.share.min.assignment.interval.ms", _B, Kind.INT, "0", minimum=0, no_effect=_SHARE_GROUPS),
    ConfigKey("group.share.min.delivery.count.limit", _B, Kind.INT, "2", minimum=2, maximum=5, no_effect=_SHARE_GROUPS),
    ConfigKey("group.share.min.heartbeat.interval.ms", _B, Kind.INT, "5000", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey(
        "group.share.min.partition.max.record.locks", _B, Kind.INT, "100", minimum=100, maximum=2000,
        no_effect=_SHARE_GROUPS,
    ),
    ConfigKey(
        "group.share.min.record.lock.duration.ms", _B, Kind.INT, "15000", minimum=1000, maximum=30000,
        no_effect=_SHARE_GROUPS,
    ),
    ConfigKey("group.share.min.session.timeout.ms", _B, Kind.INT, "45000", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey(
        "group.share.partition.max.record.locks", _B, Kind.INT, "2000", minimum=100, maximum=10000,
        no_effect=_SHARE_GROUPS,
    ),
    ConfigKey(
        "group.share.record.lock.duration.ms", _B, Kind.INT, "30000", minimum=1000, maximum=3600000,
        no_effect=_SHARE_GROUPS,
    ),
    ConfigKey("group.share.session.timeout.ms", _B, Kind.INT, "45000", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey("share.coordinator.append.linger.ms", _B, Kind.INT, "-1", minimum=-1, no_effect=_SHARE_GROUPS),
    ConfigKey(
        "share.coordinator.cached.buffer.max.bytes", _B, Kind.INT, "1048588", minimum=524288, dynamic=True,
        no_effect=_SHARE_GROUPS,
    ),
    ConfigKey("share.coordinator.load.buffer.size", _B, Kind.INT, "5242880", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey(
        "share.coordinator.snapshot.update.records.per.snapshot", _B, Kind.INT, "500", minimum=0, maximum=500,
        no_effect=_SHARE_GROUPS,
    ),
    ConfigKey("share.coordinator.state.topic.compression.codec", _B, Kind.INT, "0", no_effect=_SHARE_GROUPS),
    ConfigKey("share.coordinator.state.topic.min.isr", _B, Kind.SHORT, "2", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey("share.coordinator.state.topic.num.partitions", _B, Kind.INT, "50", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey(
        "share.coordinator.state.topic.replication.factor", _B, Kind.SHORT, "3", minimum=1, no_effect=_SHARE_GROUPS,
    ),
    ConfigKey(
        "share.coordinator.state.topic.segment.bytes", _B, Kind.INT, "104857600", minimum=1, no_effect=_SHARE_GROUPS,
    ),
    ConfigKey("share.coordinator.threads", _B, Kind.INT, "1", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey("share.coordinator.write.timeout.ms", _B, Kind.INT, "5000", minimum=1, no_effect=_SHARE_GROUPS),
    ConfigKey("share.fetch.purgatory.purge.interval.requests", _B, Kind.INT, "1000", no_effect=_SHARE_GROUPS),
)
# fmt: on
