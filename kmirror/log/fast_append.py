"""Fast append of a single plain batch that continues at the log end.

Frequent fetches return one batch per partition (`append_one`), and so do most produce requests (`lead_one`). A scan or
a decoded batch costs several times as much Python time as the bytes themselves, and finds nothing that these checks
miss. Every other batch is left to the full path: another epoch, an unknown producer, the start of a transaction, a
control batch, the first batch of a segment, one that needs a new segment or must be rewritten, and every invalid one.
"""

from __future__ import annotations

from kmirror.errors import CorruptBatch
from kmirror.log.config import LogConfig
from kmirror.log.leader_append import is_timely
from kmirror.log.producer_entry import ProducerEntry
from kmirror.log.producers import ProducerStates
from kmirror.log.results import AppendInfo
from kmirror.log.scan import FUSED
from kmirror.log.segment_list import SegmentList
from kmirror.records import layout
from kmirror.records.codecs import Compression, decompress
from kmirror.records.crc32c import crc32c_function
from kmirror.records.layout import NO_TIMESTAMP, TimestampType
from kmirror.records.outline import outline

_OF_PRODUCER = layout.header_struct("producer_epoch", "base_sequence")
_POSITION = layout.header_struct("base_offset", "batch_length", "partition_leader_epoch")
_CONTROL, _TRANSACTIONAL = layout.CONTROL_FLAG, layout.TRANSACTIONAL_FLAG
_NOT_PLAIN = ~(layout.COMPRESSION_MASK | layout.TRANSACTIONAL_FLAG)
_MAGIC_V2, _OVERHEAD, _HEADER_SIZE = layout.MAGIC_V2, layout.LOG_OVERHEAD, layout.HEADER_SIZE
_ATTRIBUTES_AT, _LENGTH_MIN, _LAST_OFFSET_MAX = layout.ATTRIBUTES_AT, layout.BATCH_LENGTH_MIN, layout.LAST_OFFSET_MAX
_RECORDS_AT, _CODEC = layout.RECORDS_AT, layout.COMPRESSION_MASK
_unpack_header = layout.HEADER.unpack_from


def append_one(
    segments: SegmentList,
    producers: ProducerStates,
    config: LogConfig,
    view: memoryview,
    max_epoch: int,
    latest_epoch: int,
    now_ms: int,
) -> AppendInfo | None:
    """Append `view` unchanged if it is one plain batch of another leader; otherwise do nothing and return None."""
    total = len(view)
    if total < _HEADER_SIZE:
        return None
    base, length, epoch, magic, crc, attributes, delta, timestamp, producer_id = FUSED.unpack_from(view)
    segment, last = segments.active, base + delta
    if (
        length + _OVERHEAD != total
        or magic != _MAGIC_V2
        or length < _LENGTH_MIN
        or attributes & _CONTROL
        or delta < 0
        or base < segments.end_offset
        or last > _LAST_OFFSET_MAX
        or epoch > max_epoch
        or epoch != latest_epoch
        or not segment.size
        or segment.should_roll(config, total, last, timestamp, now_ms)
        or crc32c_function()(view[_ATTRIBUTES_AT:]) != crc
    ):
        return None
    if producer_id < 0:
        segments.append_one(view, last, timestamp, now_ms)
    else:
        producer_epoch, sequence = _OF_PRODUCER.unpack_from(view)
        producer = _unchanged_producer(producers, producer_id, producer_epoch, attributes)
        if producer is None:
            return None
        segments.append_one(view, last, timestamp, now_ms)
        producer.add_batch(sequence, last, delta, timestamp)
    producers.map_end_offset = last + 1
    return AppendInfo(base, last, 1, total, timestamp)


def lead_one(
    segments: SegmentList,
    producers: ProducerStates,
    config: LogConfig,
    view: memoryview,
    leader_epoch: int,
    latest_epoch: int,
    now_ms: int,
) -> AppendInfo | None:
    """Append a copy of `view` at the log's next offsets if it is one plain batch that a leader accepts unchanged.

    Otherwise do nothing and return None. A batch that `leader_append.prepare` would reject or rewrite is not plain.
    """
    total = len(view)
    if total < _HEADER_SIZE:
        return None
    (
        base,
        length,
        _,
        magic,
        crc,
        attributes,
        delta,
        base_timestamp,
        timestamp,
        producer_id,
        producer_epoch,
        sequence,
        count,
    ) = _unpack_header(view)
    segment, first, codec = segments.active, segments.end_offset, attributes & _CODEC
    last = first + delta
    if (
        base
        or length + _OVERHEAD != total
        or magic != _MAGIC_V2
        or attributes & _NOT_PLAIN
        or delta < 0
        or count != delta + 1
        or last > _LAST_OFFSET_MAX
        or total > config.max_message_bytes
        or leader_epoch != latest_epoch
        or not segment.size
        or segment.should_roll(config, total, last, timestamp, now_ms)
        or not (config.compression_type is None or config.compression_type == codec)
        or config.message_timestamp_type is not TimestampType.CREATE_TIME
        or crc32c_function()(view[_ATTRIBUTES_AT:]) != crc
    ):
        return None
    producer = None
    if producer_id >= 0:
        producer = _unchanged_producer(producers, producer_id, producer_epoch, attributes)
        if producer is None or sequence < 0 or not producer.is_followed_by(sequence):
            return None
    data = bytearray(view)
    if not _accepts_records(data, codec, count, base_timestamp, timestamp, config, now_ms):
        return None
    _POSITION.pack_into(data, 0, first, length, leader_epoch)
    segments.append_one(memoryview(data), last, timestamp, now_ms)
    if producer is not None:
        producer.add_batch(sequence, last, delta, timestamp)
    producers.map_end_offset = last + 1
    return AppendInfo(first, last, 1, total, timestamp)


def _accepts_records(
    data: bytearray, codec: int, count: int, base_timestamp: int, timestamp: int, config: LogConfig, now_ms: int
) -> bool:
    """Return whether a leader accepts the records of the batch in `data`; `timestamp` is the header's maximum."""
    if codec:
        if codec > Compression.ZSTD:
            return False
        try:
            found = outline(decompress(Compression(codec), memoryview(data)[_RECORDS_AT:]), 0, count)
        except CorruptBatch:
            return False
        if found is None or not found.is_numbered:
            return False
    else:
        found = outline(data, _RECORDS_AT, count)
        if found is None:
            return False
    return (
        base_timestamp + found.max_delta == timestamp >= NO_TIMESTAMP
        and (found.has_keys or not config.compact)
        and is_timely(config, base_timestamp + found.min_delta, timestamp, now_ms)
    )


def _unchanged_producer(
    producers: ProducerStates, producer_id: int, producer_epoch: int, attributes: int
) -> ProducerEntry | None:
    """Return the producer's entry if the batch changes neither its epoch nor its transaction state, else None."""
    producer = producers.entries.get(producer_id)
    if producer is None or producer.producer_epoch != producer_epoch:
        return None
    return producer if (producer.txn_first_offset >= 0) == bool(attributes & _TRANSACTIONAL) else None
