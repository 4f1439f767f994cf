"""The LogConfig of a topic: its own configs, with the broker's as defaults."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from kmirror.log.config import LogConfig
from kmirror.records.codecs import Compression
from kmirror.records.layout import TimestampType
from kmirror.spec.configs import Configs, Scope

CODECS = {"uncompressed": Compression.NONE, **{codec.name.lower(): codec for codec in Compression if codec}}
"""`compression.type` to codec; `producer` is absent, because it keeps the codec of each batch."""


def log_config(topic: Mapping[str, str], broker: Configs) -> LogConfig:
    """Return the current LogConfig of a topic; equal configs of topic and broker return the same object."""
    return _log_config(tuple(sorted(topic.items())), broker)


@lru_cache(maxsize=256)  # A broker has many logs but few distinct configs.
def _log_config(topic: tuple[tuple[str, str], ...], broker: Configs) -> LogConfig:
    configs = Configs(Scope.TOPIC, dict(topic), broker)
    policies = configs.names("cleanup.policy")
    compact, max_compaction_lag_ms = "compact" in policies, configs.integer("max.compaction.lag.ms")
    segment_ms = configs.integer("segment.ms")
    return LogConfig(
        segment_bytes=configs.integer("segment.bytes"),
        # Only closed segments are compacted, so the compaction lag bounds their age (LogConfig.maxSegmentMs).
        segment_ms=min(segment_ms, max_compaction_lag_ms) if compact else segment_ms,
        segment_index_bytes=configs.integer("segment.index.bytes"),
        index_interval_bytes=configs.integer("index.interval.bytes"),
        max_message_bytes=configs.integer("max.message.bytes"),
        message_timestamp_type=(
            TimestampType.LOG_APPEND_TIME
            if configs.text("message.timestamp.type") == "LogAppendTime"
            else TimestampType.CREATE_TIME
        ),
        message_timestamp_before_max_ms=configs.integer("message.timestamp.before.max.ms"),
        message_timestamp_after_max_ms=configs.integer("message.timestamp.after.max.ms"),
        compression_type=CODECS.get(configs.text("compression.type")),
        compact=compact,
        delete="delete" in policies,
        retention_ms=configs.integer("retention.ms"),
        retention_bytes=configs.integer("retention.bytes"),
        file_delete_delay_ms=configs.integer("file.delete.delay.ms"),
        flush_messages=configs.integer("flush.messages"),
        flush_ms=configs.integer("flush.ms"),
        min_cleanable_dirty_ratio=configs.double("min.cleanable.dirty.ratio"),
        delete_retention_ms=configs.integer("delete.retention.ms"),
        min_compaction_lag_ms=configs.integer("min.compaction.lag.ms"),
        max_compaction_lag_ms=max_compaction_lag_ms,
        producer_id_expiration_ms=broker.integer("producer.id.expiration.ms"),
    )
