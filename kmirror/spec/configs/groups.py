"""Config keys of group coordinators, classic groups and committed offsets."""

from __future__ import annotations

from kmirror.spec.configs.key import NOT_READ, ConfigKey, Kind, Scope

_B = Scope.BROKER

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "offset.metadata.max.bytes", _B, Kind.INT, "4096", "Longest metadata of a committed offset, in UTF-16 units.",
    ),
    ConfigKey(
        "offsets.retention.minutes", _B, Kind.INT, "10080",
        "Retention of the committed offsets of a group without members, in minutes.", 1,
    ),
    ConfigKey(
        "offsets.retention.check.interval.ms", _B, Kind.LONG, "600000", "How often expired offsets are removed.", 1,
    ),
    ConfigKey("offsets.topic.num.partitions", _B, Kind.INT, "50", "Partitions of __consumer_offsets.", 1),
    ConfigKey("offsets.topic.replication.factor", _B, Kind.SHORT, "3", "Replicas of __consumer_offsets.", 1),
    ConfigKey("offsets.topic.segment.bytes", _B, Kind.INT, "104857600", "segment.bytes of __consumer_offsets.", 1),
    ConfigKey(
        "group.min.session.timeout.ms", _B, Kind.INT, "6000", "Shortest session timeout that a member may request.",
    ),
    ConfigKey(
        "group.max.session.timeout.ms", _B, Kind.INT, "1800000", "Longest session timeout that a member may request.",
    ),
    ConfigKey(
        "group.initial.rebalance.delay.ms", _B, Kind.INT, "3000",
        "How long the first rebalance of a group waits for more members.",
    ),
    ConfigKey("group.max.size", _B, Kind.INT, "2147483647", "Largest number of members of a group.", 1),
    ConfigKey("group.coordinator.append.linger.ms", _B, Kind.INT, "-1", minimum=-1, no_effect=NOT_READ),
    ConfigKey("group.coordinator.background.threads", _B, Kind.INT, "2", minimum=1, no_effect=NOT_READ),
    ConfigKey(
        "group.coordinator.cached.buffer.max.bytes", _B, Kind.INT, "1048588", minimum=524288, dynamic=True,
        no_effect=NOT_READ,
    ),
    ConfigKey("group.coordinator.threads", _B, Kind.INT, "4", minimum=1, no_effect=NOT_READ),
    ConfigKey("offsets.commit.timeout.ms", _B, Kind.INT, "5000", minimum=1, no_effect=NOT_READ),
    ConfigKey("offsets.load.buffer.size", _B, Kind.INT, "5242880", minimum=1, no_effect=NOT_READ),
    ConfigKey("offsets.topic.compression.codec", _B, Kind.INT, "0", no_effect=NOT_READ),
)
# fmt: on
