"""Building record batches.

The base timestamp is that of the first record and the maximum is taken over all records, as in the JVM's builder. The
fields outside the checksum, base offset and leader epoch, can be set later without changing the rest.

`BatchBuilder` collects records up to a size limit. It counts the exact size before compression. The JVM estimates the
compressed size from earlier batches; a wrong estimate costs it a split and a retry. A batch built here exceeds its
limit only if its first record alone does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, count
from struct import error as struct_error

from kmirror.errors import LocalProtocolError
from kmirror.kernel.arguments import whole_number
from kmirror.kernel.java import wrap_int64
from kmirror.records import layout
from kmirror.records.codecs import Compression, compress, resolve_level, to_codec
from kmirror.records.crc32c import crc32c
from kmirror.records.layout import TimestampType
from kmirror.records.record import Header, RecordTuple, check_records
from kmirror.records.varint import MINUS_ONE, SMALL, encode_varint, varint_size

_INT32_MAX = 0x7FFFFFFF
_INT64_MAX = 0x7FFFFFFFFFFFFFFF
_SMALL_END = len(SMALL)
# Errors that a record or a number of the wrong type causes during encoding; checking each one first would be slower.
_WRONG_TYPES = (AttributeError, IndexError, TypeError, ValueError)
# Record attributes (none are defined) and a small timestamp delta.
_SMALL_DELTA = tuple(b"\x00" + encoded for encoded in SMALL)


def encode_headers(headers: Sequence[Header]) -> bytes:
    """Return the encoded headers of a record: count and fields."""
    parts = [encode_varint(len(headers))]
    for name, value in headers:
        encoded = name.encode("utf-8")
        if value is None:
            parts += (encode_varint(len(encoded)), encoded, MINUS_ONE)
        else:
            parts += (encode_varint(len(encoded)), encoded, encode_varint(len(value)), value)
    return b"".join(parts)


def encode_records(
    records: Iterable[RecordTuple], *, base_offset: int, base_timestamp: int, default_timestamp: int
) -> tuple[list[bytes], int]:
    """Return the encoded records, two chunks for each, and their greatest timestamp."""
    chunks: list[bytes] = []
    push = chunks.append
    join = b"".join
    small, small_delta = SMALL, _SMALL_DELTA
    max_timestamp = layout.NO_TIMESTAMP
    encoded_deltas = chain(small, map(encode_varint, count(_SMALL_END)))
    for (key, value, headers, timestamp, offset), offset_delta in zip(records, encoded_deltas):  # noqa: B905 one is endless
        if timestamp is None:
            timestamp = default_timestamp
        if timestamp > max_timestamp:
            max_timestamp = timestamp
        if offset is not None:
            offset_delta = encode_varint(offset - base_offset)
        timestamp -= base_timestamp
        if 0 <= timestamp < _SMALL_END:
            delta = small_delta[timestamp]
        else:
            if not -_INT64_MAX <= timestamp <= _INT64_MAX:
                timestamp = wrap_int64(timestamp)
            delta = b"\x00" + encode_varint(timestamp)
        if key is None:
            key_size, key = MINUS_ONE, b""
        else:
            size = len(key)
            key_size = small[size] if size < _SMALL_END else encode_varint(size)
        if value is None:
            value_size, value = MINUS_ONE, b""
        else:
            size = len(value)
            value_size = small[size] if size < _SMALL_END else encode_varint(size)
        encoded_headers = encode_headers(headers) if headers else b"\x00"
        body = join((delta, offset_delta, key_size, key, value_size, value, encoded_headers))
        size = len(body)
        push(small[size] if size < _SMALL_END else encode_varint(size))
        push(body)
    return chunks, max_timestamp


def _last_offset_delta(records: Sequence[RecordTuple], base_offset: int) -> int:
    if not records:
        raise LocalProtocolError("a batch without records needs last_offset_delta")
    last = records[-1][4]
    return len(records) - 1 if last is None else last - base_offset


def _first_timestamp(records: Sequence[RecordTuple], default: int) -> int:
    first = records[0][3] if records else layout.NO_TIMESTAMP
    return default if first is None else first


def _has_append_time(timestamp_type: int) -> bool:
    if timestamp_type not in (TimestampType.CREATE_TIME, TimestampType.LOG_APPEND_TIME):
        raise LocalProtocolError(f"a timestamp type is CREATE_TIME (0) or LOG_APPEND_TIME (1), not {timestamp_type!r}")
    return timestamp_type == TimestampType.LOG_APPEND_TIME


def build_batch(
    records: Sequence[RecordTuple],
    *,
    base_offset: int = 0,
    partition_leader_epoch: int = layout.NO_LEADER_EPOCH,
    compression: Compression = Compression.NONE,
    level: int | None = None,
    producer_id: int = layout.NO_PRODUCER_ID,
    producer_epoch: int = layout.NO_PRODUCER_EPOCH,
    base_sequence: int = layout.NO_SEQUENCE,
    is_transactional: bool = False,
    is_control: bool = False,
    timestamp_type: int = TimestampType.CREATE_TIME,
    timestamp_ms: int = layout.NO_TIMESTAMP,
    last_offset_delta: int | None = None,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
    delete_horizon_ms: int | None = None,
) -> bytes:
    """Return a batch of `records`.

    `timestamp_ms` is the timestamp of records without one, and the append time if `timestamp_type` is LOG_APPEND_TIME.
    `last_offset_delta`, `base_timestamp` and `max_timestamp` are set to keep the values of an older batch; a batch
    without records, as the cleaner leaves it, needs `last_offset_delta`. Timestamps are in milliseconds. Raises
    `LocalProtocolError` for values that a batch cannot hold.
    """
    try:
        if last_offset_delta is None:
            last_offset_delta = _last_offset_delta(records, base_offset)
        if not 0 <= last_offset_delta <= _INT32_MAX:
            raise LocalProtocolError(f"a batch cannot span {last_offset_delta} offsets from {base_offset}")
        if delete_horizon_ms is not None:
            base_timestamp = delete_horizon_ms
        elif base_timestamp is None:
            base_timestamp = _first_timestamp(records, timestamp_ms)
        times = {"base_timestamp": base_timestamp, "default_timestamp": timestamp_ms}
        chunks, record_timestamp_max = encode_records(records, base_offset=base_offset, **times)
    except _WRONG_TYPES as error:
        check_records(records)
        raise LocalProtocolError(f"an offset or a timestamp of the batch is not an integer: {error}") from None
    has_append_time = _has_append_time(timestamp_type)
    if max_timestamp is None:
        max_timestamp = timestamp_ms if has_append_time else record_timestamp_max
    body = b"".join(chunks)
    if (compression := to_codec(compression)) and records:
        body = compress(compression, body, level=level)
    attributes = (
        compression
        | (layout.LOG_APPEND_TIME_FLAG if has_append_time else 0)
        | (layout.TRANSACTIONAL_FLAG if is_transactional else 0)
        | (layout.CONTROL_FLAG if is_control else 0)
        | (layout.DELETE_HORIZON_FLAG if delete_horizon_ms is not None else 0)
    )
    try:
        checksummed = layout.CHECKED_HEADER.pack(
            attributes,
            last_offset_delta,
            base_timestamp,
            max_timestamp,
            producer_id,
            producer_epoch,
            base_sequence,
            len(records),
        )
    except struct_error as error:
        raise LocalProtocolError(
            f"no batch has base timestamp {base_timestamp}, max timestamp {max_timestamp}, producer id {producer_id}, "
            f"producer epoch {producer_epoch} and base sequence {base_sequence}: {error}"
        ) from None
    return frame_batch(checksummed + body, base_offset=base_offset, partition_leader_epoch=partition_leader_epoch)


def frame_batch(checksummed: bytes, *, base_offset: int, partition_leader_epoch: int) -> bytes:
    """Return a batch from `checksummed`, the bytes from the attributes on."""
    length = layout.ATTRIBUTES_AT - layout.LOG_OVERHEAD + len(checksummed)
    crc = crc32c(checksummed)
    try:
        if length > _INT32_MAX or not 0 <= base_offset <= _INT64_MAX:
            raise LocalProtocolError(f"no batch has length {length} and base offset {base_offset}")
        head = layout.UNCHECKED_HEADER.pack(base_offset, length, partition_leader_epoch, layout.MAGIC_V2, crc)
    except (struct_error, TypeError) as error:
        text = f"no batch has base offset {base_offset!r} and leader epoch {partition_leader_epoch!r}"
        raise LocalProtocolError(f"{text}: {error}") from None
    return head + checksummed


def set_base_offset_and_epoch(
    buffer: bytearray | memoryview, base_offset: int, leader_epoch: int, *, position: int = 0
) -> None:
    """Set both in the batch at `position`, in place; the checksum does not cover them.

    Raises `LocalProtocolError` if there is no batch header, the buffer is read-only, or a number is too large.
    """
    if position < 0 or len(buffer) < position + layout.HEADER_SIZE:  # Slice assignment would extend a bytearray.
        raise LocalProtocolError(f"no batch header is at position {position} of {len(buffer)} bytes")
    at = position + layout.LEADER_EPOCH_AT
    try:
        offset, epoch = base_offset.to_bytes(8, "big", signed=True), leader_epoch.to_bytes(4, "big", signed=True)
        buffer[position + layout.BASE_OFFSET_AT : position + 8] = offset
        buffer[at : at + 4] = epoch
    except (OverflowError, TypeError) as error:
        text = f"cannot write base offset {base_offset} and leader epoch {leader_epoch} into {type(buffer).__name__}"
        raise LocalProtocolError(f"{text}: {error}") from None


class BatchBuilder:
    """Collects records and builds one batch; the options are those of `build_batch`.

    builder = BatchBuilder(size_max=16_384, compression=Compression.ZSTD)
    if not builder.append(value=b"v"):
        send(builder.build())
    """

    __slots__ = ("_base_timestamp", "_build", "_default_timestamp", "_records", "size_in_bytes", "size_max")

    def __init__(
        self,
        *,
        size_max: int | None = None,
        base_offset: int = 0,
        partition_leader_epoch: int = layout.NO_LEADER_EPOCH,
        compression: Compression = Compression.NONE,
        level: int | None = None,
        producer_id: int = layout.NO_PRODUCER_ID,
        producer_epoch: int = layout.NO_PRODUCER_EPOCH,
        base_sequence: int = layout.NO_SEQUENCE,
        is_transactional: bool = False,
        timestamp_type: int = TimestampType.CREATE_TIME,
        timestamp_ms: int = layout.NO_TIMESTAMP,
    ) -> None:
        if producer_id != layout.NO_PRODUCER_ID and (producer_epoch < 0 or base_sequence < 0):
            text = f"not {producer_epoch} and {base_sequence}"
            raise LocalProtocolError(f"producer {producer_id} needs an epoch and a sequence number, {text}")
        if is_transactional and producer_id == layout.NO_PRODUCER_ID:
            raise LocalProtocolError("a transactional batch needs a producer id")
        if size_max is not None:
            whole_number("size_max", size_max, 0)
        compression = to_codec(compression)
        resolve_level(compression, level)  # Reject an unknown level now rather than when the batch is full.
        self.size_max = size_max
        self.size_in_bytes = layout.HEADER_SIZE  # Before compression.
        self._records: list[RecordTuple] = []
        self._base_timestamp = timestamp_ms
        self._default_timestamp = timestamp_ms
        self._build = partial(
            build_batch,
            base_offset=base_offset,
            partition_leader_epoch=partition_leader_epoch,
            compression=compression,
            level=level,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            base_sequence=base_sequence,
            is_transactional=is_transactional,
            timestamp_type=timestamp_type,
            timestamp_ms=timestamp_ms,
        )

    def __len__(self) -> int:
        return len(self._records)

    def append(
        self,
        *,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Sequence[Header] = (),
        timestamp: int | None = None,
    ) -> bool:
        """Add the record and return True, or return False if the batch is full; the first record always fits.

        Raises `LocalProtocolError` for a record that no batch can hold; the batch is then unchanged.
        """
        record: RecordTuple = (key, value, headers, timestamp, None)
        if str in map(type, record[:2]):  # A str has a length too, so the size below would not reveal it.
            check_records([record])
        record_timestamp = self._default_timestamp if timestamp is None else timestamp
        base = self._base_timestamp if self._records else record_timestamp
        try:
            size = (
                1
                + varint_size(record_timestamp - base)
                + varint_size(len(self._records))
                + sum(1 if field is None else varint_size(len(field)) + len(field) for field in (key, value))
                + (len(encode_headers(headers)) if headers else 1)
            )
        except _WRONG_TYPES:
            check_records([record])
            raise
        self._base_timestamp = base
        size += varint_size(size)
        if self._records and self.size_max is not None and self.size_in_bytes + size > self.size_max:
            return False
        self._records.append(record)
        self.size_in_bytes += size
        return True

    def build(self) -> bytes:
        """Return the batch of the records added so far; raises `LocalProtocolError` if there are none."""
        if not self._records:
            raise LocalProtocolError("a batch needs a record")
        return self._build(self._records)
