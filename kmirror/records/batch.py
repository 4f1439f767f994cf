"""Record batch (message format 2) as a view over a buffer.

The header is read once, and the payload stays in the buffer. Records are decompressed and decoded on demand. A `Batch`
is valid while its buffer is unchanged; decoded records do not need the buffer.
"""

from __future__ import annotations

from collections.abc import Iterator

from kmirror.errors import CorruptBatch, LocalProtocolError
from kmirror.kernel.arguments import byte_view
from kmirror.records import layout
from kmirror.records.codecs import DECOMPRESSED_BYTES_MAX, Compression, decompress
from kmirror.records.control import ControlRecord, parse_control
from kmirror.records.crc32c import crc32c
from kmirror.records.framing import check_framing
from kmirror.records.layout import Buffer, TimestampType
from kmirror.records.record import BatchContext, Record, decode_records

_LARGE_RECORD = 300
_CODECS = tuple(Compression)  # Faster than calling the class.


class TornBatch(CorruptBatch):
    """The buffer ends inside a batch; `needed` is the size of the batch, or of its header, in bytes."""

    def __init__(self, message: str, *, position: int, needed: int, offset: int | None = None) -> None:
        self.needed = needed
        super().__init__(message, position=position, offset=offset)


class UnsupportedMagic(CorruptBatch):
    """The bytes are in message format `magic`, not in the format of record batches."""

    def __init__(self, magic: int, *, position: int, offset: int | None = None) -> None:
        self.magic = magic
        text = f"message format {magic}, expected a record batch (format 2)"
        super().__init__(text, position=position, offset=offset)


class Batch:
    """The record batch at `position` of a buffer; raises `CorruptBatch` if there is none."""

    __slots__ = (
        "attributes",
        "base_offset",
        "base_sequence",
        "base_timestamp",
        "batch_length",
        "crc",
        "last_offset_delta",
        "magic",
        "max_timestamp",
        "partition_leader_epoch",
        "position",
        "producer_epoch",
        "producer_id",
        "record_count",
        "view",
    )

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int
    view: memoryview
    position: int

    def __init__(self, buffer: Buffer, position: int = 0) -> None:
        view = buffer if type(buffer) is memoryview else byte_view("a batch", buffer)
        remaining = len(view) - position
        if position < 0:
            raise LocalProtocolError(f"a batch cannot start before its buffer, at position {position}")
        if remaining < layout.HEADER_SIZE:
            _check_start(view, position)
            raise TornBatch(
                f"{remaining} bytes are left, but a batch header has {layout.HEADER_SIZE}",
                position=position,
                needed=layout.HEADER_SIZE,
            )
        (
            self.base_offset,
            self.batch_length,
            self.partition_leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.record_count,
        ) = layout.HEADER.unpack_from(view, position)
        size = layout.LOG_OVERHEAD + self.batch_length
        if self.magic != layout.MAGIC_V2 or size < layout.HEADER_SIZE or size > remaining:
            _check_start(view, position)
            raise TornBatch(
                f"a batch of {size} bytes, but only {remaining} bytes are left",
                position=position,
                needed=size,
                offset=self.base_offset,
            )
        self.view = view[position : position + size]
        self.position = position

    @property
    def size_in_bytes(self) -> int:
        """Size of the batch in bytes, including its header."""
        return layout.LOG_OVERHEAD + self.batch_length

    @property
    def last_offset(self) -> int:
        """Last offset of the batch (inclusive); compaction may have removed its record."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Last offset plus one."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record, or -1 if the batch has none."""
        if self.base_sequence == layout.NO_SEQUENCE:
            return layout.NO_SEQUENCE
        return layout.add_to_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def compression(self) -> Compression:
        """Codec of the records; raises `CorruptBatch` if the bits are not a known codec."""
        bits = self.attributes & layout.COMPRESSION_MASK
        if bits > Compression.ZSTD:
            text = f"compression type {bits} does not exist"
            raise CorruptBatch(text, position=self.position, offset=self.base_offset)
        return _CODECS[bits]

    @property
    def timestamp_type(self) -> TimestampType:
        """Whether the producer or the broker set the timestamps."""
        if self.attributes & layout.LOG_APPEND_TIME_FLAG:
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        """True if the batch is part of a transaction, or is its marker."""
        return bool(self.attributes & layout.TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        """True if the batch holds a control record, which consumers do not see."""
        return bool(self.attributes & layout.CONTROL_FLAG)

    @property
    def delete_horizon_ms(self) -> int | None:
        """Time (ms) after which the cleaner may remove tombstones and markers; stored as the base timestamp."""
        return self.base_timestamp if self.attributes & layout.DELETE_HORIZON_FLAG else None

    @property
    def has_producer_id(self) -> bool:
        """True if the producer is idempotent or transactional."""
        return self.producer_id > layout.NO_PRODUCER_ID

    @property
    def header(self) -> bytes:
        """The 61 header bytes, packed from the fields."""
        return layout.HEADER.pack(
            self.base_offset,
            self.batch_length,
            self.partition_leader_epoch,
            self.magic,
            self.crc,
            self.attributes,
            self.last_offset_delta,
            self.base_timestamp,
            self.max_timestamp,
            self.producer_id,
            self.producer_epoch,
            self.base_sequence,
            self.record_count,
        )

    def verify_crc(self) -> None:
        """Raise `CorruptBatch` if the checksum does not match."""
        computed = crc32c(self.view[layout.ATTRIBUTES_AT :])
        if computed != self.crc:
            raise CorruptBatch(
                f"checksum mismatch: stored {self.crc:#010x}, computed {computed:#010x}",
                position=self.position,
                offset=self.base_offset,
            )

    def payload(self, *, limit: int = DECOMPRESSED_BYTES_MAX) -> bytes:
        """Return the uncompressed records; raises `CorruptBatch` if they are invalid or exceed `limit` bytes."""
        if self.record_count == 0:
            return b""  # An emptied batch keeps its codec in the attributes.
        try:
            return decompress(self.compression, self.view[layout.RECORDS_AT :], limit=limit)
        except CorruptBatch as error:
            raise self._with_position(error) from None

    def region(self, *, limit: int = DECOMPRESSED_BYTES_MAX) -> Buffer:
        """Return the same bytes as `payload`; without compression as a view into the buffer."""
        if self.record_count and self.compression is Compression.NONE:
            return self.view[layout.RECORDS_AT :]
        return self.payload(limit=limit)

    def check_framing(self, payload: bytes | None = None, *, limit: int = DECOMPRESSED_BYTES_MAX) -> None:
        """Raise `CorruptBatch` unless the records' lengths fill the batch; no other field is read.

        `payload` is the uncompressed payload, if the caller already has it.
        """
        data: Buffer | None = payload
        if data is None:
            # Many small records are read faster from a copy.
            has_large_records = self.record_count * _LARGE_RECORD < self.batch_length
            data = self.region(limit=limit) if has_large_records else self.payload(limit=limit)
        try:
            check_framing(data, self.record_count)
        except CorruptBatch as error:
            raise self._with_position(error) from None

    def records(self, payload: bytes | None = None, *, limit: int = DECOMPRESSED_BYTES_MAX) -> Iterator[Record]:
        """Yield the records; raises `CorruptBatch`, after the last record at the latest.

        `payload` is the uncompressed payload, if the caller already has it.
        """
        data = self.payload(limit=limit) if payload is None else payload
        return decode_records(data, self.record_count, self.context(), self._with_position)

    def context(self) -> BatchContext:
        """Return the values shared by all records of this batch."""
        timestamp_type = self.timestamp_type
        return BatchContext(
            self.base_offset,
            self.base_timestamp,
            self.max_timestamp if timestamp_type is TimestampType.LOG_APPEND_TIME else None,
            self.base_sequence,
            self.partition_leader_epoch,
            timestamp_type,
        )

    def control(self) -> ControlRecord | None:
        """Return the control record; None for a data batch and for one that the cleaner emptied."""
        if not self.is_control:
            return None
        for record in self.records():
            try:
                return parse_control(record.key, record.value)
            except CorruptBatch as error:
                raise self._with_position(error) from None
        return None

    def _with_position(self, error: CorruptBatch) -> CorruptBatch:
        """Return `error` with position and offset of the batch; a position inside the payload goes into the text."""
        if error.offset is not None:
            return error
        inner = "" if error.position is None else f", {error.position} bytes into the records"
        return CorruptBatch(error.reason + inner, position=self.position, offset=self.base_offset)

    def __repr__(self) -> str:
        return (
            f"Batch(base_offset={self.base_offset}, last_offset={self.last_offset}, "
            f"count={self.record_count}, leader_epoch={self.partition_leader_epoch}, "
            f"producer_id={self.producer_id}, size={self.size_in_bytes}, attributes={self.attributes:#06x})"
        )


def next_size(buffer: Buffer, position: int = 0) -> int | None:
    """Return the size in bytes of the batch or message of any format at `position`; None if it is incomplete.

    A broker reads produced data in this way. Raises `CorruptBatch` for an invalid size or format as soon as those bytes
    are there, even if the rest is missing.
    """
    remaining = len(buffer) - position
    if remaining < layout.LOG_OVERHEAD:
        return None
    base_offset, length = layout.OVERHEAD.unpack_from(buffer, position)
    if length < layout.LEGACY_LENGTH_MIN:
        raise CorruptBatch(f"a batch length of {length} is too small", position=position, offset=base_offset)
    if remaining <= layout.MAGIC_AT:
        return None
    magic = buffer[position + layout.MAGIC_AT]
    if magic > layout.MAGIC_V2:
        number = magic - 256 if magic > 127 else magic
        raise CorruptBatch(f"message format {number} does not exist", position=position, offset=base_offset)
    size: int = layout.LOG_OVERHEAD + length
    return size if size <= remaining else None


def _check_start(view: memoryview, position: int) -> None:
    """Raise the error that the first bytes already show; return if only the rest of the batch is missing."""
    if len(view) - position <= layout.MAGIC_AT:
        return
    base_offset, length, _, magic = layout.UNCHECKED_HEADER.unpack(
        bytes(view[position : position + layout.ATTRIBUTES_AT]).ljust(layout.ATTRIBUTES_AT, b"\x00")
    )[:4]
    if length < layout.LEGACY_LENGTH_MIN:
        raise CorruptBatch(f"a batch length of {length} is too small", position=position, offset=base_offset)
    if 0 <= magic < layout.MAGIC_V2:
        raise UnsupportedMagic(magic, position=position, offset=base_offset)
    if magic != layout.MAGIC_V2:
        raise CorruptBatch(f"message format {magic} does not exist", position=position, offset=base_offset)
    if length < layout.BATCH_LENGTH_MIN:
        raise CorruptBatch(
            f"a batch length of {length} is below the {layout.BATCH_LENGTH_MIN} of an empty batch",
            position=position,
            offset=base_offset,
        )


def iter_batches(buffer: Buffer, *, position: int = 0, check_crc: bool = False) -> Iterator[Batch]:
    """Yield the batches from `position` to the end of `buffer`.

    Raises `CorruptBatch` for bytes that are no batch, `TornBatch` if the buffer ends inside a batch, and
    `UnsupportedMagic` at a message of format 0 or 1.
    """
    view = byte_view("a batch", buffer)
    end = len(view)
    while position < end:
        batch = Batch(view, position)
        if check_crc:
            batch.verify_crc()
        yield batch
        position += layout.LOG_OVERHEAD + batch.batch_length
