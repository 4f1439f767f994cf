"""Config keys of logs: segments, timestamps, compression, retention and flushes."""

from __future__ import annotations

from kmirror.spec.configs.key import (
    LONG_MAX,
    MIB,
    MINUTE_MS,
    NO_THREADS,
    NOT_READ,
    SET_AT_START,
    ConfigKey,
    Kind,
    Scope,
)
from kmirror.spec.configs.rules import gzip_level

_B, _T = Scope.BROKER, Scope.TOPIC
_CODECS = ("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer")
_TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")
_LEVELS = "codecs compress at their default level"

# fmt: off
KEYS: tuple[ConfigKey, ...] = (
    ConfigKey(
        "log.dir.failure.timeout.ms", _B, Kind.LONG, "30000",
        "How long a broker may fail to report a failed log directory before it shuts down.", 1,
    ),
    ConfigKey("log.segment.bytes", _B, Kind.INT, "1073741824", "Size at which a segment rolls.", MIB, dynamic=True),
    ConfigKey(
        "segment.bytes", _T, Kind.INT, None, "Size at which a segment rolls.", MIB, broker_key="log.segment.bytes",
        test_key="internal.segment.bytes",
    ),
    ConfigKey(
        "internal.segment.bytes", _T, Kind.INT, None, "For tests: segment.bytes without its bound.", 1, internal=True,
    ),
    ConfigKey(
        "log.index.interval.bytes", _B, Kind.INT, "4096", "Bytes between entries of the offset index.", 0, dynamic=True,
    ),
    ConfigKey(
        "index.interval.bytes", _T, Kind.INT, None, "Bytes between entries of the offset index.", 0,
        broker_key="log.index.interval.bytes",
    ),
    ConfigKey(
        "log.index.size.max.bytes", _B, Kind.INT, "10485760", "Bytes of an index, above which its segment rolls.", 4,
        dynamic=True,
    ),
    ConfigKey(
        "segment.index.bytes", _T, Kind.INT, None, "Bytes of an index, above which its segment rolls.", 4,
        broker_key="log.index.size.max.bytes",
    ),
    ConfigKey("message.max.bytes", _B, Kind.INT, "1048588", "Largest batch accepted from a producer.", 0, dynamic=True),
    ConfigKey(
        "max.message.bytes", _T, Kind.INT, None, "Largest batch accepted from a producer.", 0,
        broker_key="message.max.bytes",
    ),
    ConfigKey(
        "log.message.timestamp.type", _B, Kind.STRING, "CreateTime", "CreateTime or LogAppendTime.",
        choices=_TIMESTAMP_TYPES, dynamic=True,
    ),
    ConfigKey(
        "message.timestamp.type", _T, Kind.STRING, None, "CreateTime or LogAppendTime.", choices=_TIMESTAMP_TYPES,
        broker_key="log.message.timestamp.type",
    ),
    ConfigKey(
        "log.message.timestamp.before.max.ms", _B, Kind.LONG, str(LONG_MAX),
        "How far before the broker's clock a producer's timestamp may lie.", 0, dynamic=True,
    ),
    ConfigKey(
        "message.timestamp.before.max.ms", _T, Kind.LONG, None,
        "How far before the broker's clock a producer's timestamp may lie.", 0,
        broker_key="log.message.timestamp.before.max.ms",
    ),
    ConfigKey(
        "log.message.timestamp.after.max.ms", _B, Kind.LONG, "3600000",
        "How far after the broker's clock a producer's timestamp may lie.", 0, dynamic=True,
    ),
    ConfigKey(
        "message.timestamp.after.max.ms", _T, Kind.LONG, None,
        "How far after the broker's clock a producer's timestamp may lie.", 0,
        broker_key="log.message.timestamp.after.max.ms",
    ),
    ConfigKey(
        "compression.type", _B, Kind.STRING, "producer", "Codec of topics; producer keeps the client's.",
        choices=_CODECS, dynamic=True,
    ),
    ConfigKey(
        "compression.type", _T, Kind.STRING, None, "Codec of the topic; producer keeps the client's.", choices=_CODECS,
        broker_key="compression.type",
    ),
    ConfigKey(
        "log.retention.ms", _B, Kind.LONG, None, "Age at which segments are deleted; -1 is never.", dynamic=True,
        fallback=("log.retention.minutes", MINUTE_MS),
    ),
    ConfigKey(
        "retention.ms", _T, Kind.LONG, None, "Age at which segments are deleted; -1 is never.", -1,
        broker_key="log.retention.ms",
    ),
    ConfigKey(
        "log.retention.minutes", _B, Kind.INT, None, "log.retention.ms in minutes, read if that is not set.",
        fallback=("log.retention.hours", 60),
    ),
    ConfigKey(
        "log.retention.hours", _B, Kind.INT, "168", "log.retention.ms in hours, read if the minutes are not set.",
    ),
    ConfigKey(
        "log.retention.bytes", _B, Kind.LONG, "-1", "Size above which segments are deleted; below 0 is none.",
        dynamic=True,
    ),
    ConfigKey(
        "retention.bytes", _T, Kind.LONG, None, "Size above which segments are deleted; below 0 is none.",
        broker_key="log.retention.bytes",
    ),
    ConfigKey(
        "log.retention.check.interval.ms", _B, Kind.LONG, "300000",
        "How often logs are checked for segments to delete.", 1,
    ),
    ConfigKey(
        "log.initial.task.delay.ms", _B, Kind.LONG, "30000", "Time from the start of a broker to its first check.", 0,
        internal=True,
    ),
    ConfigKey(
        "log.segment.delete.delay.ms", _B, Kind.LONG, "60000", "How long the files of a deleted segment stay.", 0,
        dynamic=True,
    ),
    ConfigKey(
        "file.delete.delay.ms", _T, Kind.LONG, None, "How long the files of a deleted segment stay.", 0,
        broker_key="log.segment.delete.delay.ms",
    ),
    ConfigKey(
        "log.roll.ms", _B, Kind.LONG, None, "Age at which a segment rolls.", dynamic=True,
        fallback=("log.roll.hours", 60 * MINUTE_MS),
    ),
    ConfigKey("segment.ms", _T, Kind.LONG, None, "Age at which a segment rolls.", 1, broker_key="log.roll.ms"),
    ConfigKey("log.roll.hours", _B, Kind.INT, "168", "log.roll.ms in hours, read if that is not set.", 1),
    ConfigKey(
        "log.flush.interval.messages", _B, Kind.LONG, str(LONG_MAX), "Records after which a log is flushed.", 1,
        dynamic=True,
    ),
    ConfigKey(
        "flush.messages", _T, Kind.LONG, None, "Records after which a log is flushed.", 1,
        broker_key="log.flush.interval.messages",
    ),
    ConfigKey(
        "log.flush.interval.ms", _B, Kind.LONG, None, "Longest time that a record may stay unflushed.", dynamic=True,
        fallback=("log.flush.scheduler.interval.ms", 1),
    ),
    ConfigKey(
        "flush.ms", _T, Kind.LONG, None, "Longest time that a record may stay unflushed.", 0,
        broker_key="log.flush.interval.ms",
    ),
    ConfigKey(
        "log.flush.scheduler.interval.ms", _B, Kind.LONG, str(LONG_MAX),
        "How often logs are checked for records to flush.",
    ),
    ConfigKey("log.dir", _B, Kind.LIST, "/tmp/kafka-logs", no_effect=SET_AT_START),
    ConfigKey("log.dirs", _B, Kind.LIST, None, no_effect=SET_AT_START),
    ConfigKey("num.recovery.threads.per.data.dir", _B, Kind.INT, "2", minimum=1, dynamic=True, no_effect=NO_THREADS),
    ConfigKey("num.replica.alter.log.dirs.threads", _B, Kind.INT, None, no_effect=NO_THREADS),
    ConfigKey("cordoned.log.dirs", _B, Kind.LIST, "", dynamic=True, no_effect=NOT_READ),
    ConfigKey("log.flush.offset.checkpoint.interval.ms", _B, Kind.INT, "60000", minimum=0, no_effect=NOT_READ),
    ConfigKey("log.flush.start.offset.checkpoint.interval.ms", _B, Kind.INT, "60000", minimum=0, no_effect=NOT_READ),
    ConfigKey("log.preallocate", _B, Kind.BOOLEAN, "false", dynamic=True, no_effect=NOT_READ),
    ConfigKey("preallocate", _T, Kind.BOOLEAN, None, broker_key="log.preallocate", no_effect=NOT_READ),
    ConfigKey("log.roll.jitter.hours", _B, Kind.INT, "0", minimum=0, no_effect=NOT_READ),
    ConfigKey(
        "log.roll.jitter.ms", _B, Kind.LONG, None, dynamic=True, fallback=("log.roll.jitter.hours", 3_600_000),
        no_effect=NOT_READ,
    ),
    ConfigKey("segment.jitter.ms", _T, Kind.LONG, None, minimum=0, broker_key="log.roll.jitter.ms", no_effect=NOT_READ),
    ConfigKey("compression.gzip.level", _B, Kind.INT, "-1", rule=gzip_level, dynamic=True, no_effect=_LEVELS),
    ConfigKey(
        "compression.gzip.level", _T, Kind.INT, None, rule=gzip_level, broker_key="compression.gzip.level",
        no_effect=_LEVELS,
    ),
    ConfigKey("compression.lz4.level", _B, Kind.INT, "9", minimum=1, maximum=17, dynamic=True, no_effect=_LEVELS),
    ConfigKey(
        "compression.lz4.level", _T, Kind.INT, None, minimum=1, maximum=17, broker_key="compression.lz4.level",
        no_effect=_LEVELS,
    ),
    ConfigKey(
        "compression.zstd.level", _B, Kind.INT, "3", minimum=-131072, maximum=22, dynamic=True, no_effect=_LEVELS,
    ),
    ConfigKey(
        "compression.zstd.level", _T, Kind.INT, None, minimum=-131072, maximum=22, broker_key="compression.zstd.level",
        no_effect=_LEVELS,
    ),
)
# fmt: on
