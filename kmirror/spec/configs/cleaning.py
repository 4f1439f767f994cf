"""Config keys of the log cleaner."""

from __future__ import annotations

from kmirror.spec.configs.key import LONG_MAX, NO_THREADS, NOT_READ, ConfigKey, Kind, Scope

_B, _T = Scope.BROKER, Scope.TOPIC
_POLICIES = ("compact", "delete")

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "log.cleanup.policy", _B, Kind.LIST, "delete", "delete, compact or both.", choices=_POLICIES, dynamic=True,
    ),
    ConfigKey(
        "cleanup.policy", _T, Kind.LIST, None, "delete, compact or both.", choices=_POLICIES,
        broker_key="log.cleanup.policy",
    ),
    ConfigKey(
        "log.cleaner.enable", _B, Kind.BOOLEAN, "true", "Whether logs with cleanup.policy=compact are compacted.",
    ),
    ConfigKey(
        "log.cleaner.backoff.ms", _B, Kind.LONG, "15000", "Pause of the cleaner when there is nothing to clean.", 0,
        dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.dedupe.buffer.size", _B, Kind.LONG, "134217728",
        "Bytes for the keys of one cleaning, 24 for each key.", dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.io.buffer.load.factor", _B, Kind.DOUBLE, "0.9",
        "Share of log.cleaner.dedupe.buffer.size that is used.", dynamic=True,
    ),
    ConfigKey(
        "log.cleaner.min.cleanable.ratio", _B, Kind.DOUBLE, "0.5", "Dirty share above which a log is cleaned.", 0, 1,
        dynamic=True,
    ),
    ConfigKey(
        "min.cleanable.dirty.ratio", _T, Kind.DOUBLE, None, "Dirty share above which a log is cleaned.", 0, 1,
        broker_key="log.cleaner.min.cleanable.ratio",
    ),
    ConfigKey(
        "log.cleaner.delete.retention.ms", _B, Kind.LONG, "86400000", "How long tombstones stay readable.", 0,
        dynamic=True,
    ),
    ConfigKey(
        "delete.retention.ms", _T, Kind.LONG, None, "How long tombstones stay readable.", 0,
        broker_key="log.cleaner.delete.retention.ms",
    ),
    ConfigKey(
        "log.cleaner.min.compaction.lag.ms", _B, Kind.LONG, "0", "Age below which records are not compacted.", 0,
        dynamic=True,
    ),
    ConfigKey(
        "min.compaction.lag.ms", _T, Kind.LONG, None, "Age below which records are not compacted.", 0,
        broker_key="log.cleaner.min.compaction.lag.ms",
    ),
    ConfigKey(
        "log.cleaner.max.compaction.lag.ms", _B, Kind.LONG, str(LONG_MAX), "Age above which records are compacted.", 1,
        dynamic=True,
    ),
    ConfigKey(
        "max.compaction.lag.ms", _T, Kind.LONG, None, "Age above which records are compacted.", 1,
        broker_key="log.cleaner.max.compaction.lag.ms",
    ),
    ConfigKey("log.cleaner.threads", _B, Kind.INT, "1", minimum=0, dynamic=True, no_effect=NO_THREADS),
    ConfigKey("log.cleaner.io.buffer.size", _B, Kind.INT, "524288", minimum=0, dynamic=True, no_effect=NOT_READ),
    ConfigKey(
        "log.cleaner.io.max.bytes.per.second", _B, Kind.DOUBLE, "1.7976931348623157E308", dynamic=True,
        no_effect=NOT_READ,
    ),
)
# fmt: on
