"""Topic configs that apply to a partition log, with Kafka's defaults."""

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
    """Configs of a log. Fields are Kafka's keys with underscores, times in ms and sizes in bytes."""

    segment_bytes: int = 1 << 30
    segment_ms: int = 7 * DAY_MS
    segment_index_bytes: int = 10 << 20
    index_interval_bytes: int = 4096
    max_message_bytes: int = 1_048_588
    compression_type: Compression | None = None  # None means Kafka's `producer`: keep the codec of the batch.
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
        """Raise UsageError for a value of the wrong type or below its minimum."""
        for field in fields(self):
            value = getattr(self, field.name)
            if type(field.default) is int:
                whole_number(field.name, value, LEAST.get(field.name, -1))
        if self.compression_type is not None:
            member("compression_type", self.compression_type, Compression)
        member("message_timestamp_type", self.message_timestamp_type, TimestampType)


LEAST = {"segment_bytes": 1, "segment_index_bytes": 1, "index_interval_bytes": 0, "max_message_bytes": 0}
"""Minimum of each size in bytes; for all other whole numbers it is -1 (no limit)."""
