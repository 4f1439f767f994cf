"""Validation of produced records by the leader, and the bytes to append.

The checks and their order are Kafka's (`LogValidator` and the analysis before it): first the batch as a whole, then
each record; offsets are assigned last. The batch keeps its bytes except for base offset and leader epoch, which the
checksum does not cover. It is rewritten in three cases only: the topic's codec differs from the batch's, a compressed
batch numbers its records with gaps, or the topic sets timestamps at append time.
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.kernel.arguments import byte_view
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.java import wrap_int64
from kmirror.log.config import LONG_MAX, LogConfig
from kmirror.log.errors import LogAppendError, RecordsRejected
from kmirror.log.producers import AppendOrigin
from kmirror.log.store import Chunk
from kmirror.records import layout
from kmirror.records.batch import Batch, TornBatch, UnsupportedMagic, next_size
from kmirror.records.build import build_batch, set_base_offset_and_epoch
from kmirror.records.codecs import Compression
from kmirror.records.crc32c import crc32c
from kmirror.records.layout import NO_TIMESTAMP, TimestampType
from kmirror.records.outline import outline
from kmirror.records.record import Record, RecordData
from kmirror.spec.error_codes import ErrorCode

SHOWN_MAX = 3
"""Maximum number of invalid records listed in the error message of a batch."""


class PreparedBatch(NamedTuple):
    """Bytes to append; `log_append_time` is -1 unless the topic sets timestamps itself."""

    data: bytes | bytearray
    log_append_time: int


def prepare(
    data: Chunk,
    tp: TopicPartition,
    config: LogConfig,
    origin: AppendOrigin,
    *,
    base_offset: int,
    leader_epoch: int,
    now_ms: int,
) -> PreparedBatch:
    """Return the batch in `data` with offsets and epoch assigned; raises `LogAppendError`."""
    batch = _read_single_batch(data, tp)
    if origin is AppendOrigin.CLIENT and batch.base_offset != 0:
        raise LogAppendError(ErrorCode.INVALID_RECORD, f"{tp}: base offset {batch.base_offset}, expected 0")
    _check_size(batch.size_in_bytes, tp, config)
    if base_offset + batch.last_offset_delta > layout.LAST_OFFSET_MAX:
        reason = f"{tp}: the log ends at {base_offset}, too few offsets are left for the batch"
        raise LogAppendError(ErrorCode.UNKNOWN_SERVER_ERROR, reason)
    try:
        batch.verify_crc()
        if origin is AppendOrigin.CLIENT:
            _check_client_batch(batch, tp)
        codec = batch.compression
        payload = None if codec is Compression.NONE else batch.payload()
    except CorruptBatch as error:
        raise LogAppendError(ErrorCode.CORRUPT_MESSAGE, f"{tp}: {error}") from None
    is_append_time = config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
    log_append_time = now_ms if is_append_time else NO_TIMESTAMP
    codec_to_write = codec if config.compression_type is None else config.compression_type
    can_keep = codec is codec_to_write or (codec is Compression.NONE and batch.is_control)
    result = bytearray(batch.view) if can_keep else None
    max_timestamp = None if result is None else _max_timestamp_if_kept(batch, result, payload, config, now_ms)
    if max_timestamp is None:
        try:
            records = list(batch.records(payload))
        except CorruptBatch as error:
            raise LogAppendError(ErrorCode.CORRUPT_MESSAGE, f"{tp}: {error}") from None
        _check_records(records, batch, tp, config, now_ms)
        is_numbered = payload is None or all(record.offset == batch.base_offset + n for n, record in enumerate(records))
        if result is None or not is_numbered:
            rebuilt = _rebuild(
                batch, records, codec_to_write, base_offset, leader_epoch, now_ms if is_append_time else None, tp
            )
            _check_size(len(rebuilt), tp, config)
            return PreparedBatch(rebuilt, log_append_time)
        max_timestamp = max((record.timestamp for record in records), default=NO_TIMESTAMP)
    assert result is not None, "a batch that is kept"
    _write_timestamp(result, batch, now_ms if is_append_time else max_timestamp, is_append_time=is_append_time)
    set_base_offset_and_epoch(result, base_offset, leader_epoch)
    return PreparedBatch(result, log_append_time)


def _max_timestamp_if_kept(
    batch: Batch, data: bytearray, payload: bytes | None, config: LogConfig, now_ms: int
) -> int | None:
    """Return the greatest timestamp of a batch that is kept unchanged; None if its outline does not decide this.

    Kafka skips over the records in the same way if it need not rewrite them. A batch without a valid outline is decoded
    to find the exact error, if any. `payload` is the decompressed payload.
    """
    count = batch.record_count
    found = outline(data, layout.RECORDS_AT, count) if payload is None else outline(payload, 0, count)
    if (
        found is None
        or not (payload is None or found.is_numbered)
        or (config.compact and not found.has_keys)
        or batch.attributes & layout.LOG_APPEND_TIME_FLAG
    ):
        return None
    max_timestamp = batch.base_timestamp + found.max_delta
    return max_timestamp if is_timely(config, batch.base_timestamp + found.min_delta, max_timestamp, now_ms) else None


def is_timely(config: LogConfig, min_timestamp: int, max_timestamp: int, now_ms: int) -> bool:
    """Return whether the topic accepts records from `min_timestamp` to `max_timestamp` (ms, both inclusive)."""
    if config.message_timestamp_type is not TimestampType.CREATE_TIME:
        return True
    latest = min(now_ms + config.message_timestamp_after_max_ms, LONG_MAX)  # Greater values overflow a Java long.
    return now_ms - config.message_timestamp_before_max_ms <= min_timestamp and max_timestamp <= latest


def _read_single_batch(data: Chunk, tp: TopicPartition) -> Batch:
    view = byte_view("a batch", data)
    try:
        batch = Batch(view)
    except TornBatch as error:
        raise LogAppendError(ErrorCode.INVALID_RECORD, f"{tp}: no complete record batch: {error}") from None
    except UnsupportedMagic as error:
        raise LogAppendError(ErrorCode.INVALID_RECORD, f"{tp}: {error}") from None
    except CorruptBatch as error:
        raise LogAppendError(ErrorCode.CORRUPT_MESSAGE, f"{tp}: {error}") from None
    if batch.size_in_bytes != len(view):
        _check_rest(view, batch.size_in_bytes, tp)
    return batch


def _check_rest(view: memoryview, end: int, tp: TopicPartition) -> None:
    """Reject a second batch after the one that ends at `end`; an incomplete one is dropped, as in Kafka."""
    try:
        size = next_size(view, end)
    except CorruptBatch as error:
        raise LogAppendError(ErrorCode.CORRUPT_MESSAGE, f"{tp}: {error}") from None
    if size is not None:
        reason = f"{tp}: {len(view) - end} bytes follow the batch, expected exactly one batch"
        raise LogAppendError(ErrorCode.INVALID_RECORD, reason)


def _check_size(size: int, tp: TopicPartition, config: LogConfig) -> None:
    if size > config.max_message_bytes:
        raise LogAppendError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"{tp}: a batch of {size} bytes exceeds max.message.bytes {config.max_message_bytes}",
        )


def check_fits_segment(size: int, tp: TopicPartition, config: LogConfig) -> None:
    """Raise `LogAppendError` with RECORD_LIST_TOO_LARGE for a batch larger than a segment."""
    if size > config.segment_bytes:
        raise LogAppendError(
            ErrorCode.RECORD_LIST_TOO_LARGE,
            f"{tp}: a batch of {size} bytes exceeds segment.bytes {config.segment_bytes}",
        )


def _check_client_batch(batch: Batch, tp: TopicPartition) -> None:
    count, span = batch.record_count, batch.last_offset_delta + 1
    if span <= 0:
        reason = f"last offset delta {batch.last_offset_delta} is negative"
    elif count <= 0:
        reason = f"record count {count}, expected at least 1"
    elif span != count:
        reason = f"{count} records span {span} offsets"
    elif batch.is_control:
        reason = "clients may not write control records"
    elif batch.has_producer_id and batch.base_sequence < 0:
        reason = f"base sequence {batch.base_sequence} with producer id {batch.producer_id}"
    else:
        return
    raise LogAppendError(ErrorCode.INVALID_RECORD, f"{tp}: {reason}")


def _check_records(records: list[Record], batch: Batch, tp: TopicPartition, config: LogConfig, now_ms: int) -> None:
    """Reject the batch for invalid records, in a broker's wording; any invalid timestamp decides the error code."""
    faults: list[tuple[int, str]] = []
    is_timely = True
    is_create_time = config.message_timestamp_type is TimestampType.CREATE_TIME
    earliest = now_ms - config.message_timestamp_before_max_ms
    latest = now_ms + config.message_timestamp_after_max_ms
    for index, record in enumerate(records):
        if config.compact and record.key is None:
            faults.append((index, f"Compacted topic cannot accept message without key in topic partition {tp}"))
        elif is_create_time and record.timestamp != NO_TIMESTAMP:
            if not earliest <= record.timestamp <= latest:
                is_timely = False
                text = f"Timestamp {record.timestamp} of message with offset {record.offset} is out of range."
                faults.append(
                    (index, f"{text} The timestamp should be within [{wrap_int64(earliest)}, {wrap_int64(latest)}]")
                )
        elif batch.timestamp_type is TimestampType.LOG_APPEND_TIME:
            is_timely = False
            text = f"Invalid timestamp type in message {_record_text(record)}."
            faults.append((index, f"{text} Producer should not set timestamp type to LogAppendTime."))
    if not is_timely:
        text = "One or more records have been rejected due to invalid timestamp"
        raise RecordsRejected(ErrorCode.INVALID_TIMESTAMP, text, faults)
    if faults:
        record_errors = ", ".join(
            f"RecordError(batchIndex={index}, message='{text}')" for index, text in faults[:SHOWN_MAX]
        )
        text = f"One or more records have been rejected due to {len(faults)} record errors in total, and only showing"
        raise RecordsRejected(
            ErrorCode.INVALID_RECORD, f"{text} the first three errors at most: [{record_errors}]", faults
        )


def _record_text(record: Record) -> str:
    """Return the description of a record in a broker's messages."""
    sizes = f"key={len(record.key or b'')} bytes, value={len(record.value or b'')} bytes"
    return f"DefaultRecord(offset={record.offset}, timestamp={record.timestamp}, {sizes})"


def _write_timestamp(result: bytearray, batch: Batch, max_timestamp: int, *, is_append_time: bool) -> None:
    """Write the greatest timestamp and its type into a copy of the batch, as the broker computes them."""
    max_timestamp = max(max_timestamp, NO_TIMESTAMP)  # A client may send timestamps below -1.
    attributes = batch.attributes & ~layout.LOG_APPEND_TIME_FLAG
    if is_append_time:
        attributes |= layout.LOG_APPEND_TIME_FLAG
    if max_timestamp == batch.max_timestamp and attributes == batch.attributes:
        return
    at = layout.ATTRIBUTES_AT
    result[at : at + 2] = attributes.to_bytes(2, "big", signed=True)
    at = layout.MAX_TIMESTAMP_AT
    result[at : at + 8] = max_timestamp.to_bytes(8, "big", signed=True)
    checksum = crc32c(memoryview(result)[layout.ATTRIBUTES_AT :])
    result[layout.CRC_AT : layout.CRC_AT + 4] = checksum.to_bytes(4, "big")


def _rebuild(
    batch: Batch,
    records: list[Record],
    codec: Compression,
    base_offset: int,
    leader_epoch: int,
    log_append_time: int | None,
    tp: TopicPartition,
) -> bytes:
    create_time = log_append_time is None
    if any(record.timestamp < NO_TIMESTAMP for record in records):  # Kafka's builder rejects them too.
        raise LogAppendError(ErrorCode.UNKNOWN_SERVER_ERROR, f"{tp}: cannot rewrite a timestamp below -1")
    return build_batch(
        [RecordData(record.key, record.value, record.headers, record.timestamp) for record in records],
        base_offset=base_offset,
        partition_leader_epoch=leader_epoch,
        compression=codec,
        producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch,
        base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional,
        is_control=batch.is_control,
        timestamp_type=TimestampType.CREATE_TIME if create_time else TimestampType.LOG_APPEND_TIME,
        timestamp_ms=NO_TIMESTAMP if log_append_time is None else log_append_time,
    )
