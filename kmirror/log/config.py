"""The topic configs that a partition log obeys, with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass, fields

from kmirror.kernel.arguments import member, whole_number
from kmirror.records.codecs import Compression
from kmirror.records.layout import TimestampType

NO_LIMIT = -1
DAY_MS = 86_400_000
LONG_MAX = 0x7FFF_FFFF_FFFF_FFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """Field names are Kafka's keys, `message.timestamp.after.max.ms` as `message_timestamp_after_max_ms`."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * DAY_MS
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    max_message_bytes: int = 1_048_588
    compression_type: Compression | None = None  # None is Kafka's `producer`: keep what the client chose.
    message_timestamp_type: TimestampType = TimestampType.CREATE_TIME
    message_timestamp_before_max_ms: int = LONG_MAX
    message_timestamp_after_max_ms: int = 3_600_000
    compact: bool = False
    delete: bool = True
    retention_ms: int = 7 * DAY_MS
    retention_bytes: int = NO_LIMIT
    file_delete_delay_ms: int = 60_000
    flush_messages: int = LONG_MAX
    flush_ms: int = LONG_MAX
    min_cleanable_dirty_ratio: float = 0.5
    delete_retention_ms: int = DAY_MS
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int = LONG_MAX
    producer_id_expiration_ms: int = DAY_MS  # A broker config in Kafka.

    def __post_init__(self) -> None:
        """Raise UsageError for a value of another type, and for bounds without which a log cannot work."""
        for field in fields(self):
            value = getattr(self, field.name)
            if type(field.default) is int:
                whole_number(field.name, value, LEAST.get(field.name, -1))
        if self.compression_type is not None:
            member("compression_type", self.compression_type, Compression)
        member("message_timestamp_type", self.message_timestamp_type, TimestampType)


LEAST = {"segment_bytes": 1, "segment_index_bytes": 1, "index_interval_bytes": 0, "max_message_bytes": 0}
"""The least value of a number of bytes; times and sizes of retention begin at -1, which is none."""
