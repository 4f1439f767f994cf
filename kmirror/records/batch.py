"""What does a batch say about itself, without its records being touched?

`Batch` is a view: one read of the header, the payload stays where it is. Records are inflated and decoded
when asked for. The view is valid as long as the buffer under it is not changed; records, once decoded, no
longer need it.
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
from kmirror.records.record import Record, RecordContext, decode_records

_LARGE_RECORD = 300
_CODECS = tuple(Compression)  # A look-up costs less than a call of the class.


class TornBatch(CorruptBatch):
    """The buffer ends inside a batch; `needed` is the size of the batch, or of its header."""

    def __init__(self, message: str, *, position: int, needed: int, offset: int | None = None) -> None:
        self.needed = needed
        super().__init__(message, position=position, offset=offset)


class UnsupportedMagic(CorruptBatch):
    """The bytes are in message format `magic`, which is not the format of record batches."""

    def __init__(self, magic: int, *, position: int, offset: int | None = None) -> None:
        self.magic = magic
        text = f"message format {magic} where a record batch (2) is read"
        super().__init__(text, position=position, offset=offset)


class Batch:
    """The record batch at `position` of a buffer; raises `CorruptBatch` when none can stand there."""

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
            raise LocalProtocolError(f"no batch begins before its buffer does, at position {position}")
        if remaining < layout.HEADER_SIZE:
            _check_start(view, position)
            raise TornBatch(
                f"{remaining} bytes are left where a batch header takes {layout.HEADER_SIZE}",
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
                f"a batch of {size} bytes has {remaining} left",
                position=position,
                needed=size,
                offset=self.base_offset,
            )
        self.view = view[position : position + size]
        self.position = position

    @property
    def size_in_bytes(self) -> int:
        """Return the size of the batch, header included."""
        return layout.LOG_OVERHEAD + self.batch_length

    @property
    def last_offset(self) -> int:
        """Return the last offset of the batch, inclusive; compaction may have taken its record."""
        return self.base_offset + self.last_offset_delta

    @property
    def next_offset(self) -> int:
        """Return the offset after the batch."""
        return self.base_offset + self.last_offset_delta + 1

    @property
    def last_sequence(self) -> int:
        """Return the sequence number of the last record, or -1 when the batch has none."""
        if self.base_sequence == layout.NO_SEQUENCE:
            return layout.NO_SEQUENCE
        return layout.add_to_sequence(self.base_sequence, self.last_offset_delta)

    @property
    def compression(self) -> Compression:
        """Return the codec of the records; raises `CorruptBatch` for bits that name none."""
        bits = self.attributes & layout.COMPRESSION_MASK
        if bits > Compression.ZSTD:
            text = f"compression type {bits} does not exist"
            raise CorruptBatch(text, position=self.position, offset=self.base_offset)
        return _CODECS[bits]

    @property
    def timestamp_type(self) -> TimestampType:
        """Return who set the timestamps, the producer or the broker."""
        if self.attributes & layout.LOG_APPEND_TIME_FLAG:
            return TimestampType.LOG_APPEND_TIME
        return TimestampType.CREATE_TIME

    @property
    def is_transactional(self) -> bool:
        """Return whether it is part of a transaction, or its marker."""
        return bool(self.attributes & layout.TRANSACTIONAL_FLAG)

    @property
    def is_control(self) -> bool:
        """Return whether it holds a control record, which no consumer sees."""
        return bool(self.attributes & layout.CONTROL_FLAG)

    @property
    def delete_horizon_ms(self) -> int | None:
        """Return when the cleaner may drop tombstones and markers, in ms; it stands in place of the base timestamp."""
        return self.base_timestamp if self.attributes & layout.DELETE_HORIZON_FLAG else None

    @property
    def has_producer_id(self) -> bool:
        """Return whether its producer is idempotent or transactional."""
        return self.producer_id > layout.NO_PRODUCER_ID

    @property
    def header(self) -> bytes:
        """Return the 61 header bytes, packed from the fields."""
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
        """Raise `CorruptBatch` when the checksum does not hold."""
        computed = crc32c(self.view[layout.ATTRIBUTES_AT :])
        if computed != self.crc:
            raise CorruptBatch(
                f"the batch says its checksum is {self.crc:#010x} and it is {computed:#010x}",
                position=self.position,
                offset=self.base_offset,
            )

    def payload(self, *, limit: int = DECOMPRESSED_BYTES_MAX) -> bytes:
        """Return the bytes of the records; raises `CorruptBatch` when they do not inflate, or beyond `limit`."""
        if self.record_count == 0:
            return b""  # The cleaner keeps the codec in the attributes of a batch that it emptied.
        try:
            return decompress(self.compression, self.view[layout.RECORDS_AT :], limit=limit)
        except CorruptBatch as error:
            raise self._placed(error) from None

    def region(self, *, limit: int = DECOMPRESSED_BYTES_MAX) -> Buffer:
        """Return what `payload` does, as a view into the buffer when nothing has to be inflated."""
        if self.record_count and self.compression is Compression.NONE:
            return self.view[layout.RECORDS_AT :]
        return self.payload(limit=limit)

    def check_framing(self, payload: bytes | None = None, *, limit: int = DECOMPRESSED_BYTES_MAX) -> None:
        """Raise `CorruptBatch` unless the records' lengths fill the batch; nothing else in them is read.

        Give `payload` if it has been inflated already.
        """
        data: Buffer | None = payload
        if data is None:
            # Many small records are read faster in a copy.
            large = self.record_count * _LARGE_RECORD < self.batch_length
            data = self.region(limit=limit) if large else self.payload(limit=limit)
        try:
            check_framing(data, self.record_count)
        except CorruptBatch as error:
            raise self._placed(error) from None

    def records(self, payload: bytes | None = None, *, limit: int = DECOMPRESSED_BYTES_MAX) -> Iterator[Record]:
        """Yield the records; raises `CorruptBatch`, at the latest when the last one has been asked for.

        Give `payload` if it has been inflated already.
        """
        data = self.payload(limit=limit) if payload is None else payload
        return decode_records(data, self.record_count, self.context(), self._placed)

    def context(self) -> RecordContext:
        """Return what every record of this batch shares."""
        kind = self.timestamp_type
        return RecordContext(
            self.base_offset,
            self.base_timestamp,
            self.max_timestamp if kind is TimestampType.LOG_APPEND_TIME else None,
            self.base_sequence,
            self.partition_leader_epoch,
            kind,
        )

    def control(self) -> ControlRecord | None:
        """Return the control record, or None for a data batch or one that the cleaner emptied."""
        if not self.is_control:
            return None
        for record in self.records():
            try:
                return parse_control(record.key, record.value)
            except CorruptBatch as error:
                raise self._placed(error) from None
        return None

    def _placed(self, error: CorruptBatch) -> CorruptBatch:
        """Return `error` with the batch's place; positions inside the payload go into the text."""
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
    """Return the size in bytes of the batch or message at `position`, of any format; None if no whole one is there.

    So a broker reads what a producer sent: raises `CorruptBatch` for a size or a format that there is not as soon as
    its bytes are there, also where the rest is missing.
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
        shown = magic - 256 if magic > 127 else magic
        raise CorruptBatch(f"message format {shown} does not exist", position=position, offset=base_offset)
    size: int = layout.LOG_OVERHEAD + length
    return size if size <= remaining else None


def _check_start(view: memoryview, position: int) -> None:
    """Raise the fault that the first bytes show by themselves; else only the rest of the batch is missing."""
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

    Raises `CorruptBatch` on bytes that are no batch, `TornBatch` when the buffer ends inside one and
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
