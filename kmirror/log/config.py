"""The topic configs that a partition log obeys, with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass

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
        assert self.segment_bytes > 0, f"segment.bytes {self.segment_bytes}"
        assert self.index_interval_bytes >= 0, f"index.interval.bytes {self.index_interval_bytes}"
