"""Batches as Kafka's file reader sees them, including damaged ones.

`kmirror.records` rejects invalid batches. A dump tool is needed for exactly those, so this reader behaves like Kafka's:
it finds a batch by its length only, reads each field on access, and raises `CorruptBatch` at the field where Kafka's
reader would fail. Like that reader, it treats a magic below 2 as a message and any other as a batch.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from struct import Struct
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.kernel.java import wrap_int64
from kmirror.records import layout
from kmirror.records.codecs import Compression, decompress, fix_lz4_header_checksum
from kmirror.records.crc32c import crc32c
from kmirror.records.layout import TimestampType
from kmirror.records.record import BatchContext, Header, Record, decode_records

_UP_TO_MAGIC: Final = 17
_INT32: Final = Struct(">i")
_INT64: Final = Struct(">q")
_UINT32: Final = Struct(">I")
# Positions in a message after offset and size: crc, magic, attributes, timestamp (format 1 only), key size.
_ATTRIBUTES_AT: Final = 5
_TIMESTAMP_AT: Final = 6
_KEY_SIZE_AT: Final = {0: 6, 1: 14}


class LegacyRecord:
    """A message whose fields are read on access; `view` begins at the checksum."""

    __slots__ = ("offset", "position", "timestamp_of_wrapper", "view")

    def __init__(self, view: memoryview, offset: int, position: int, timestamp_of_wrapper: int | None = None) -> None:
        self.view = view
        self.offset = offset
        self.position = position
        self.timestamp_of_wrapper = timestamp_of_wrapper

    headers: Final[list[Header]] = []
    sequence: Final = layout.NO_SEQUENCE

    def corrupt(self, reason: str) -> CorruptBatch:
        return CorruptBatch(reason, position=self.position, offset=self.offset)

    def _int32(self, at: int) -> int:
        if not 0 <= at <= len(self.view) - 4:
            raise self.corrupt(f"a message of {len(self.view)} bytes ends before its fields do")
        return int(_INT32.unpack_from(self.view, at)[0])

    @property
    def magic(self) -> int:
        return int.from_bytes(self.view[4:5], "big", signed=True)

    @property
    def is_compressed(self) -> bool:
        return codec_of(self.view[_ATTRIBUTES_AT], self) is not Compression.NONE

    @property
    def timestamp(self) -> int:
        """Timestamp in ms; the wrapper's with log append time, -1 in format 0. Raises `CorruptBatch`."""
        if self.magic == 0:
            return layout.NO_TIMESTAMP
        if self.timestamp_of_wrapper is not None:
            return self.timestamp_of_wrapper
        if len(self.view) < _TIMESTAMP_AT + 8:
            raise self.corrupt("the message ends before its timestamp does")
        return int(_INT64.unpack_from(self.view, _TIMESTAMP_AT)[0])

    @property
    def _key_size_at(self) -> int:
        return _KEY_SIZE_AT[0 if self.magic == 0 else 1]

    @property
    def key_size(self) -> int:
        return self._int32(self._key_size_at)

    @property
    def value_size(self) -> int:
        return self._int32(self._value_size_at)

    @property
    def _value_size_at(self) -> int:
        return self._key_size_at + 4 + max(0, self.key_size)

    @property
    def key(self) -> bytes | None:
        return self._field(self._key_size_at)

    @property
    def value(self) -> bytes | None:
        return self._field(self._value_size_at)

    def _field(self, at: int) -> bytes | None:
        size = self._int32(at)
        if size > len(self.view) - at - 4:
            raise self.corrupt(f"a field of {size} bytes does not fit into the {len(self.view) - at - 4} left")
        return None if size < 0 else bytes(self.view[at + 4 : at + 4 + size])

    @property
    def checksum(self) -> int:
        return int(_UINT32.unpack_from(self.view, 0)[0])

    @property
    def is_valid(self) -> bool:
        return len(self.view) >= layout.LEGACY_LENGTH_MIN and self.checksum == zlib.crc32(self.view[4:])


AnyRecord = Record | LegacyRecord


class Head(NamedTuple):
    """The bytes before a batch's or message's own fields."""

    position: int
    offset: int
    length: int
    magic: int

    @property
    def size_in_bytes(self) -> int:
        return layout.LOG_OVERHEAD + self.length


def iter_heads(view: memoryview, start: int = 0, end: int | None = None) -> Iterator[Head]:
    """Yield the complete batches of `view[start:end]`; raises `CorruptBatch` for an impossible length."""
    stop = len(view) if end is None else min(end, len(view))
    while start < stop - _UP_TO_MAGIC:
        offset, length = layout.OVERHEAD.unpack_from(view, start)
        if length < layout.LEGACY_LENGTH_MIN:
            reason = f"a batch length of {length} is below {layout.LEGACY_LENGTH_MIN}, the least of any format"
            raise CorruptBatch(reason, position=start, offset=offset)
        if start > stop - layout.LOG_OVERHEAD - length:
            return
        magic = view[start + layout.MAGIC_AT]
        yield Head(start, offset, length, magic if magic < 128 else magic - 256)
        start += layout.LOG_OVERHEAD + length


def codec_of(attributes: int, owner: LegacyRecord | FileBatch | FileMessage) -> Compression:
    """Return the codec in the attributes; raises `CorruptBatch` for an unknown one."""
    bits = attributes & layout.COMPRESSION_MASK
    if bits > Compression.ZSTD:
        raise owner.corrupt(f"compression type {bits} does not exist")
    return Compression(bits)


class FileBatch:
    """A batch in a file, of any length; raises `CorruptBatch` if the file ends in its header."""

    __slots__ = ("_fields", "file", "head")

    def __init__(self, file: memoryview, head: Head) -> None:
        self.file = file
        self.head = head
        if len(file) - head.position < layout.HEADER_SIZE:
            raise self.corrupt(f"the file ends inside the {layout.HEADER_SIZE} bytes of a batch header")
        # If the batch is too short, this reads into the next one, as Kafka does.
        self._fields = layout.HEADER.unpack_from(file, head.position)

    def corrupt(self, reason: str) -> CorruptBatch:
        return CorruptBatch(reason, position=self.head.position, offset=self.head.offset)

    @property
    def base_offset(self) -> int:
        return self.head.offset

    @property
    def partition_leader_epoch(self) -> int:
        return int(self._fields[2])

    @property
    def checksum(self) -> int:
        return int(self._fields[4])

    @property
    def attributes(self) -> int:
        return int(self._fields[5]) & 0xFF  # The upper byte is unused.

    @property
    def last_offset_delta(self) -> int:
        return int(self._fields[6])

    @property
    def last_offset(self) -> int:
        return wrap_int64(self.head.offset + self.last_offset_delta)

    @property
    def base_timestamp(self) -> int:
        return int(self._fields[7])

    @property
    def max_timestamp(self) -> int:
        return int(self._fields[8])

    @property
    def producer_id(self) -> int:
        return int(self._fields[9])

    @property
    def producer_epoch(self) -> int:
        return int(self._fields[10])

    @property
    def base_sequence(self) -> int:
        return int(self._fields[11])

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record, -1 if the batch has none."""
        base = self.base_sequence
        return base if base == layout.NO_SEQUENCE else layout.add_to_sequence(base, self.last_offset_delta)

    @property
    def record_count(self) -> int:
        return int(self._fields[12])

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the producer or the broker set the timestamps."""
        is_append = self.attributes & layout.LOG_APPEND_TIME_FLAG
        return TimestampType.LOG_APPEND_TIME if is_append else TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & layout.TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & layout.CONTROL_FLAG)

    @property
    def delete_horizon_ms(self) -> int | None:
        return self.base_timestamp if self.attributes & layout.DELETE_HORIZON_FLAG else None

    @property
    def compression(self) -> Compression:
        return codec_of(self.attributes, self)

    @property
    def is_valid(self) -> bool:
        """True if the checksum matches; False if the batch is shorter than a header."""
        start, size = self.head.position, self.head.size_in_bytes
        if size < layout.HEADER_SIZE:
            return False
        return crc32c(self.file[start + layout.ATTRIBUTES_AT : start + size]) == self.checksum

    def records(self) -> Iterator[Record]:
        """Yield the same records as Kafka; compressed ones only if all are valid."""
        start, size = self.head.position, self.head.size_in_bytes
        if size < layout.HEADER_SIZE:
            raise self.corrupt(f"a batch of {size} bytes has no room for its record count")
        if self.record_count == 0:
            return iter(())
        codec = self.compression
        log_append_time = self.max_timestamp if self.timestamp_type is TimestampType.LOG_APPEND_TIME else None
        context = BatchContext(
            self.base_offset,
            self.base_timestamp,
            log_append_time,
            self.base_sequence,
            self.partition_leader_epoch,
            self.timestamp_type,
        )
        try:
            payload = decompress(codec, self.file[start + layout.RECORDS_AT : start + size])
        except CorruptBatch as error:
            raise self._add_position(error) from None
        found = decode_records(payload, self.record_count, context, self._add_position)
        return _check_after_last(found, self.record_count) if codec is Compression.NONE else iter(list(found))

    def _add_position(self, error: CorruptBatch) -> CorruptBatch:
        inner = "" if error.position is None else f", {error.position} bytes into the records"
        return self.corrupt(error.reason + inner)


def _check_after_last(records: Iterator[Record], count: int) -> Iterator[Record]:
    """Yield the records; the last one only after checking that nothing follows it."""
    for number, record in enumerate(records, start=1):
        if number == count:
            for _ in records:
                break
        yield record


class FileMessage:
    """A message in a file; for a magic below 0, reading anything but its offset raises `CorruptBatch`."""

    __slots__ = ("file", "head", "outer")

    is_control: Final = False

    def __init__(self, file: memoryview, head: Head) -> None:
        self.file = file
        self.head = head
        start = head.position + layout.LOG_OVERHEAD
        self.outer = LegacyRecord(file[start : start + head.length], head.offset, head.position)

    def corrupt(self, reason: str) -> CorruptBatch:
        return CorruptBatch(reason, position=self.head.position, offset=self.head.offset)

    @property
    def last_offset(self) -> int:
        return self.head.offset

    @property
    def max_timestamp(self) -> int:
        return self.outer.timestamp

    @property
    def checksum(self) -> int:
        return self.outer.checksum

    @property
    def is_valid(self) -> bool:
        return self.outer.is_valid

    @property
    def compression(self) -> Compression:
        """Codec of the message; raises `CorruptBatch` for an unknown one."""
        return codec_of(self.outer.view[_ATTRIBUTES_AT], self)

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the producer or the broker set the timestamp; raises `CorruptBatch` for an unknown format."""
        if self.head.magic < 0:
            raise self.corrupt(f"message format {self.head.magic} does not exist")
        if self.head.magic == 0:
            return TimestampType.NO_TIMESTAMP_TYPE
        is_append = self.outer.view[_ATTRIBUTES_AT] & layout.LOG_APPEND_TIME_FLAG
        return TimestampType.LOG_APPEND_TIME if is_append else TimestampType.CREATE_TIME

    def records(self) -> Iterator[LegacyRecord]:
        """Yield the message, or those inside the wrapper."""
        codec = self.compression
        if codec is Compression.NONE:
            yield self.outer
            return
        inner = self._inner(codec)
        if not inner:
            raise self.corrupt("a wrapper contains no message")
        base = 0
        if self.head.magic == 1 and self.head.offset != 0:  # Offset 0 means that inner offsets are absolute.
            base = self.head.offset - inner[-1].offset
            if base < 0:
                raise self.corrupt(f"the last message inside has offset {inner[-1].offset}, above the wrapper's")
        for record in inner:
            record.offset = wrap_int64(record.offset + base)
            if record.is_compressed:
                raise self.corrupt("a wrapper contains a wrapper")
            yield record

    def _inner(self, codec: Compression) -> list[LegacyRecord]:
        if codec is Compression.ZSTD:
            raise self.corrupt("zstd does not exist in message formats 0 and 1")
        value = self.outer.value
        if value is None:
            raise self.corrupt("a compressed message has no value")
        try:
            compressed = fix_lz4_header_checksum(value) if codec is Compression.LZ4 and self.head.magic == 0 else value
            data = memoryview(decompress(codec, compressed))
        except CorruptBatch as error:
            raise self.corrupt(error.reason) from None
        log_append_time = self.max_timestamp if self.timestamp_type is TimestampType.LOG_APPEND_TIME else None
        found: list[LegacyRecord] = []
        at = 0
        while at + layout.LOG_OVERHEAD <= len(data):
            offset, size = layout.OVERHEAD.unpack_from(data, at)
            if size < layout.LEGACY_LENGTH_MIN:
                raise self.corrupt(f"a message inside has a length of {size}")
            at += layout.LOG_OVERHEAD
            if size > len(data) - at:
                break  # The JVM treats an incomplete message as the end.
            record = LegacyRecord(data[at : at + size], offset, self.head.position)
            if record.magic == 1:
                record.timestamp_of_wrapper = log_append_time
            found.append(record)
            at += size
        return found


AnyFileBatch = FileBatch | FileMessage


def open_batch(view: memoryview, head: Head) -> AnyFileBatch:
    return FileBatch(view, head) if head.magic >= layout.MAGIC_V2 else FileMessage(view, head)
