"""Message formats 0 and 1, before record batches.

They have only messages; a message set is a sequence of messages.

    offset int64 | size int32 | crc uint32 | magic int8 | attributes int8 | [timestamp int64, only format 1]
        | key length int32, key | value length int32, value

A length of -1 is a null. The CRC-32 covers everything from magic on.

For compression, a producer puts a whole set into the value of one message, the wrapper. The wrapper's offset is that of
the last message inside. Inside, format 0 has absolute offsets; format 1 counts from the start of the set, so a broker
can assign offsets without decompressing. With log append time, the wrapper's timestamp applies to all messages. An
incomplete set inside a wrapper is rejected; the JVM reads the messages before that point.

Format 0 has no timestamps, and its lz4 frames have a wrong header checksum (`codecs.fix_lz4_header_checksum`). Such
sets are read, dumped and copied unchanged (D21). Only tests and old clients create new ones.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch, LocalProtocolError
from kmirror.kernel.java import wrap_int64
from kmirror.records import layout
from kmirror.records.batch import Batch, TornBatch
from kmirror.records.codecs import (
    DECOMPRESSED_BYTES_MAX,
    Compression,
    compress,
    decompress,
    fix_lz4_header_checksum,
    to_format_0_header,
)
from kmirror.records.layout import Buffer, TimestampType
from kmirror.records.record import BatchContext, Record, RecordData

_HEAD: Final = Struct(">qiIbb")  # Offset, size, crc, magic, attributes.
_INT32: Final = Struct(">i")
_INT64: Final = Struct(">q")
_TIMESTAMP_AT: Final = _HEAD.size
_FIELDS_AT: Final = {0: _HEAD.size, 1: _HEAD.size + 8}


class LegacyMessage(NamedTuple):
    """One message of a set, with an absolute offset."""

    offset: int
    crc: int
    magic: int
    attributes: int
    timestamp: int
    timestamp_type: TimestampType
    key: bytes | None
    value: bytes | None
    is_valid: bool  # True if the checksum matches.
    size_in_bytes: int  # Including offset and size.


class LegacyBatch:
    """One outer message at `position` of a buffer, with the attributes of a `Batch`; a wrapper contains many messages.

    The offset of the first message inside a wrapper is not in the header: `base_offset` decompresses it.
    """

    __slots__ = ("attributes", "batch_length", "crc", "last_offset", "magic", "position", "view")

    partition_leader_epoch: Final = layout.NO_LEADER_EPOCH
    producer_id: Final = layout.NO_PRODUCER_ID
    producer_epoch: Final = layout.NO_PRODUCER_EPOCH
    base_sequence: Final = layout.NO_SEQUENCE
    last_sequence: Final = layout.NO_SEQUENCE
    has_producer_id: Final = False
    is_transactional: Final = False
    is_control: Final = False
    delete_horizon_ms: Final = None

    last_offset: int
    batch_length: int
    crc: int
    magic: int
    attributes: int
    position: int
    view: memoryview

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        view = buffer if type(buffer) is memoryview else memoryview(buffer)
        remaining = len(view) - position
        if remaining < _HEAD.size:
            raise TornBatch(
                f"{remaining} bytes are left, but a message header has {_HEAD.size}",
                position=position,
                needed=_HEAD.size,
            )
        self.last_offset, self.batch_length, self.crc, self.magic, self.attributes = _HEAD.unpack_from(view, position)
        size = layout.LOG_OVERHEAD + self.batch_length
        self.position = position
        if self.magic not in _FIELDS_AT:
            raise self._corrupt(f"message format {self.magic}, expected format 0 or 1")
        if size < _FIELDS_AT[self.magic] + 8:
            raise self._corrupt(f"a message length of {self.batch_length} is too small")
        if size > remaining:
            raise TornBatch(
                f"a message of {size} bytes, but only {remaining} bytes are left",
                position=position,
                needed=size,
                offset=self.last_offset,
            )
        self.view = view[position : position + size]

    def _corrupt(self, text: str) -> CorruptBatch:
        return CorruptBatch(text, position=self.position, offset=self.last_offset)

    @property
    def size_in_bytes(self) -> int:
        """Size of the message in bytes, including its offset and size fields."""
        return layout.LOG_OVERHEAD + self.batch_length

    @property
    def next_offset(self) -> int:
        """Last offset plus one."""
        return self.last_offset + 1

    @property
    def base_offset(self) -> int:
        """First offset inside; decompresses a wrapper."""
        return next(self.messages()).offset

    @property
    def last_offset_delta(self) -> int:
        """Difference between the last and the first offset: more than 0 only in a compressed wrapper."""
        return self.last_offset - self.base_offset

    @property
    def record_count(self) -> int | None:
        """Number of messages; None for a wrapper, whose header does not have it."""
        return 1 if self.compression is Compression.NONE else None

    @property
    def timestamp(self) -> int:
        """Timestamp of the message in ms, -1 in format 0."""
        if self.magic == 0:
            return layout.NO_TIMESTAMP
        timestamp: int = _INT64.unpack_from(self.view, _TIMESTAMP_AT)[0]
        return timestamp

    @property
    def max_timestamp(self) -> int:
        """Timestamp in ms, -1 in format 0."""
        return self.timestamp

    @property
    def base_timestamp(self) -> int:
        """Timestamp in ms, -1 in format 0."""
        return self.timestamp

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the producer or the broker set the timestamp; format 0 has none."""
        if self.magic == 0:
            return TimestampType.NO_TIMESTAMP_TYPE
        if self.attributes & layout.LOG_APPEND_TIME_FLAG:
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME

    @property
    def compression(self) -> Compression:
        """Codec of a wrapper, NONE for a plain message; raises `CorruptBatch` for an unknown codec."""
        bits = self.attributes & layout.COMPRESSION_MASK
        if bits > Compression.ZSTD:
            raise self._corrupt(f"compression type {bits} does not exist")
        return Compression(bits)

    def verify_crc(self) -> None:
        """Raise `CorruptBatch` if the checksum does not match."""
        computed = zlib.crc32(self.view[layout.MAGIC_AT :])
        if computed != self.crc:
            raise self._corrupt(f"checksum mismatch: stored {self.crc:#010x}, computed {computed:#010x}")

    def control(self) -> None:
        """Return None: these formats have no control records."""

    def _read_body(self) -> tuple[bytes | None, bytes | None]:
        """Return key and value."""
        at = _FIELDS_AT[self.magic]
        data = self.view
        fields: list[bytes | None] = []
        for name in ("key", "value"):
            if len(data) - at < _INT32.size:
                raise self._corrupt(f"no {name} length in the {len(data) - at} bytes left")
            (size,) = _INT32.unpack_from(data, at)
            at += _INT32.size
            if size > len(data) - at:
                raise self._corrupt(f"a {name} of {size} bytes does not fit into {len(data) - at} bytes")
            fields.append(bytes(data[at : at + size]) if size >= 0 else None)
            at += max(0, size)
        return fields[0], fields[1]

    def _message(self, offset: int, wrapper: LegacyBatch | None) -> LegacyMessage:
        key, value = self._read_body()
        timestamp, timestamp_type = self.timestamp, self.timestamp_type
        if wrapper is not None and self.magic > 0:
            timestamp_type = wrapper.timestamp_type
            if timestamp_type is TimestampType.LOG_APPEND_TIME:
                timestamp = wrapper.timestamp
        is_valid = zlib.crc32(self.view[layout.MAGIC_AT :]) == self.crc
        return LegacyMessage(
            offset,
            self.crc,
            self.magic,
            self.attributes,
            timestamp,
            timestamp_type,
            key,
            value,
            is_valid,
            self.size_in_bytes,
        )

    def payload(self, *, limit: int = DECOMPRESSED_BYTES_MAX) -> bytes:
        """Return the message set inside a wrapper; raises `CorruptBatch` if it is invalid or exceeds `limit` bytes."""
        codec = self.compression
        if codec is Compression.ZSTD:
            raise self._corrupt("zstd does not exist in message formats 0 and 1")
        _, value = self._read_body()
        if value is None:
            raise self._corrupt("a compressed message has no value")
        if codec is Compression.LZ4 and self.magic == 0:
            value = fix_lz4_header_checksum(value)
        try:
            return decompress(codec, value, limit=limit)
        except CorruptBatch as error:
            raise self._corrupt(error.reason) from None

    def messages(self, *, limit: int = DECOMPRESSED_BYTES_MAX) -> Iterator[LegacyMessage]:
        """Yield this message, or the messages in it if it is a wrapper; raises `CorruptBatch` if they are invalid."""
        if self.compression is Compression.NONE:
            yield self._message(self.last_offset, None)
            return
        payload = memoryview(self.payload(limit=limit))
        last = deque(self._inner_messages(payload), maxlen=1)
        if not last:
            raise self._corrupt("a wrapper contains no message")
        base = self._first_offset(last[0].last_offset)
        # Read twice instead of kept: a message object is many times larger than its bytes.
        for message in self._inner_messages(payload):
            # The sum of corrupt offsets may overflow a Java long.
            yield message._message(wrap_int64(base + message.last_offset), self)

    def _inner_messages(self, payload: memoryview) -> Iterator[LegacyBatch]:
        """Yield the messages of `payload` unchanged; raises `CorruptBatch` for invalid ones."""
        at = 0
        while at < len(payload):
            try:
                message = LegacyBatch(payload, at)
            except CorruptBatch as error:
                raise self._corrupt(f"inside the wrapper, at byte {at}: {error.reason}") from None
            if message.compression is not Compression.NONE:
                raise self._corrupt("a wrapper contains a wrapper")
            yield message
            at += message.size_in_bytes

    def _first_offset(self, last_inner_offset: int) -> int:
        """Return the number to add to the offsets inside; `last_inner_offset` is the last of these."""
        # Some versions of librdkafka write wrappers with offset 0, which has no meaning.
        if self.magic == 0 or self.last_offset == 0:
            return 0
        if self.last_offset < last_inner_offset:
            raise self._corrupt(f"the last message inside has offset {last_inner_offset}, above the wrapper's")
        return self.last_offset - last_inner_offset

    def records(self, *, limit: int = DECOMPRESSED_BYTES_MAX) -> Iterator[Record]:
        """Yield the records as a consumer sees them; raises like `messages`."""
        for message in self.messages(limit=limit):
            context = BatchContext(base_offset=message.offset, timestamp_type=message.timestamp_type)
            yield Record(message.offset, message.timestamp, message.key, message.value, [], context)

    def __repr__(self) -> str:
        return (
            f"LegacyBatch(last_offset={self.last_offset}, magic={self.magic}, size={self.size_in_bytes}, "
            f"attributes={self.attributes:#04x})"
        )


AnyBatch = Batch | LegacyBatch


def iter_any_batches(buffer: Buffer, *, position: int = 0, check_crc: bool = False) -> Iterator[AnyBatch]:
    """Yield batches and messages of all formats, which old segments mix; raises like `iter_batches`."""
    view = memoryview(buffer)
    end = len(view)
    while position < end:
        magic = view[position + layout.MAGIC_AT] if position + layout.MAGIC_AT < end else layout.MAGIC_V2
        batch = LegacyBatch(view, position) if magic < layout.MAGIC_V2 else Batch(view, position)
        if check_crc:
            batch.verify_crc()
        yield batch
        position += batch.size_in_bytes


def build_message(
    data: RecordData, *, magic: int, offset: int, attributes: int = 0, timestamp: int = layout.NO_TIMESTAMP
) -> bytes:
    """Return one message; format 0 drops the timestamp. Raises `LocalProtocolError` for headers."""
    if data.headers:
        raise LocalProtocolError(f"message format {magic} has no headers")
    parts = [bytes([magic, attributes])]
    if magic == 1:
        parts.append(_INT64.pack(timestamp if data.timestamp is None else data.timestamp))
    for field in (data.key, data.value):
        parts += (_INT32.pack(-1 if field is None else len(field)), field or b"")
    body = b"".join(parts)
    crc = zlib.crc32(body)
    return _HEAD.pack(offset, 4 + len(body), crc, magic, attributes)[: layout.MAGIC_AT] + body


def build_message_set(
    records: Sequence[RecordData],
    *,
    magic: int,
    base_offset: int = 0,
    compression: Compression = Compression.NONE,
    timestamp_type: int = TimestampType.CREATE_TIME,
    timestamp_ms: int = layout.NO_TIMESTAMP,
) -> bytes:
    """Return a sequence of messages, or one wrapper around them.

    A wrapper's timestamp is the greatest inside, or `timestamp_ms` with LOG_APPEND_TIME. Raises `LocalProtocolError`
    for headers, zstd, and formats without message sets.
    """
    if magic not in _FIELDS_AT:
        raise LocalProtocolError(f"a message set has format 0 or 1, not {magic}")
    if compression is Compression.ZSTD:
        raise LocalProtocolError("message formats 0 and 1 do not support zstd")
    has_append_time = magic == 1 and timestamp_type == TimestampType.LOG_APPEND_TIME
    flag = layout.LOG_APPEND_TIME_FLAG if has_append_time else 0
    is_wrapped = compression is not Compression.NONE
    first = 0 if is_wrapped and magic == 1 else base_offset
    messages = [
        build_message(
            RecordData(data.key, data.value, data.headers, timestamp_ms if has_append_time else data.timestamp),
            magic=magic,
            offset=first + index,
            attributes=flag,
            timestamp=timestamp_ms,
        )
        for index, data in enumerate(records)
    ]
    message_set = b"".join(messages)
    if not is_wrapped or not records:
        return message_set
    timestamps = [timestamp_ms if data.timestamp is None or has_append_time else data.timestamp for data in records]
    compressed = compress(compression, message_set)
    if compression is Compression.LZ4 and magic == 0:
        compressed = to_format_0_header(compressed)
    return build_message(
        RecordData(None, compressed, (), max(timestamps)),
        magic=magic,
        offset=base_offset + len(records) - 1,
        attributes=flag | compression,
    )
