"""What does one record say?

`RecordData` is what a producer hands over, `Record` what a reader gets: the same plus its place in the log.
A record in format 2 is

    length varint | attributes int8 | timestamp delta varlong | offset delta varint | key length varint, key |
    value length varint, value | header count varint | (name length varint, name, value length varint, value)*

with -1 as the length of a null key or value. The records of a batch stand in one run of bytes, compressed
or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kmirror.errors import CorruptBatch
from kmirror.records.layout import NO_SEQUENCE, NO_TIMESTAMP, TimestampType, add_to_sequence
from kmirror.records.varint import read_varint, read_varlong, wrap_int64

Header: TypeAlias = tuple[str, bytes | None]


@dataclass(slots=True)
class RecordData:
    """What a producer sends; a timestamp of None takes the batch's default.

    `offset` is set only by who keeps offsets that are not consecutive, as the cleaner does.
    """

    key: bytes | None = None
    value: bytes | None = None
    headers: Sequence[Header] = ()
    timestamp: int | None = None
    offset: int | None = None


class RecordContext(NamedTuple):
    """What the records of one batch share."""

    base_offset: int = 0
    base_timestamp: int = NO_TIMESTAMP
    log_append_time: int | None = None  # Replaces every record's own timestamp.
    base_sequence: int = NO_SEQUENCE
    leader_epoch: int = -1
    timestamp_type: int = TimestampType.CREATE_TIME


class Record:
    """One record as a reader gets it; keys and values are copies and outlive the buffer."""

    __slots__ = ("context", "headers", "key", "offset", "timestamp", "value")

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[Header]
    context: RecordContext

    def __init__(
        self,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: list[Header],
        context: RecordContext,
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
        self.context = context

    @property
    def timestamp_type(self) -> int:
        return self.context.timestamp_type

    @property
    def leader_epoch(self) -> int:
        return self.context.leader_epoch

    @property
    def sequence(self) -> int:
        """The producer's sequence number, or -1 when the batch has none."""
        context = self.context
        if context.base_sequence < 0:
            return NO_SEQUENCE
        return add_to_sequence(context.base_sequence, self.offset - context.base_offset)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in Record.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return (
            f"Record(offset={self.offset}, timestamp={self.timestamp}, key={self.key!r}, "
            f"value={self.value!r}, headers={self.headers!r}, "
            f"leader_epoch={self.leader_epoch}, sequence={self.sequence})"
        )


def _headers(data: bytes, at: int, end: int, count: int) -> tuple[list[Header], int]:
    """Return `count` headers that start at `at`, and the position after them."""
    if not 0 <= count <= (end - at) // 2:  # A header takes two bytes at least.
        raise CorruptBatch(f"{count} headers cannot stand in {end - at} bytes", position=at)
    headers: list[Header] = []
    for _ in range(count):
        size, at = read_varint(data, at)
        if not 0 <= size <= end - at:
            raise CorruptBatch(f"a header name of {size} bytes cannot stand in {end - at} bytes", position=at)
        name = data[at : at + size].decode("utf-8", "replace")
        size, at = read_varint(data, at + size)
        if size < 0:
            headers.append((name, None))
            continue
        headers.append((name, data[at : at + size]))
        at += size
    return headers, at


def decode_records(data: bytes, count: int, context: RecordContext) -> Iterator[Record]:
    """Yield the `count` records that fill `data`; raises `CorruptBatch` when they do not."""
    base_offset, base_timestamp, log_append_time = context[:3]
    at = start = 0
    size = len(data)
    new = object.__new__
    if count < 0:
        raise CorruptBatch(f"a batch cannot hold {count} records")
    try:
        for _ in range(count):
            # Varints of one byte are read in place: a call costs more than everything else here.
            start = at
            raw = data[at]
            if raw < 128:
                length = (raw >> 1) ^ -(raw & 1)
                at += 1
            else:
                length, at = read_varint(data, at)
            end = at + length
            if length < 0 or end > size:
                text = f"a record of {length} bytes cannot stand in {size - at} bytes"
                raise CorruptBatch(text, position=start)
            at += 1  # Record attributes: none are defined.
            raw = data[at]
            if raw < 128:
                timestamp = base_timestamp + ((raw >> 1) ^ -(raw & 1))
                at += 1
            else:
                timestamp, at = read_varlong(data, at)
                timestamp = wrap_int64(base_timestamp + timestamp)
            raw = data[at]
            if raw < 128:
                delta = (raw >> 1) ^ -(raw & 1)
                at += 1
            else:
                delta, at = read_varint(data, at)
            raw = data[at]
            if raw < 128:
                length = (raw >> 1) ^ -(raw & 1)
                at += 1
            else:
                length, at = read_varint(data, at)
            record = new(Record)
            if length < 0:
                record.key = None
            else:
                record.key = data[at : at + length]
                at += length
            raw = data[at]
            if raw < 128:
                length = (raw >> 1) ^ -(raw & 1)
                at += 1
            else:
                length, at = read_varint(data, at)
            if length < 0:
                record.value = None
            else:
                record.value = data[at : at + length]
                at += length
            raw = data[at]
            if raw:
                raw, at = read_varint(data, at)
                record.headers, at = _headers(data, at, end, raw)
            else:
                at += 1
                record.headers = []
            if at != end:
                raise CorruptBatch(f"a record ends at byte {end} but its fields end at {at}", position=start)
            record.offset = base_offset + delta
            record.timestamp = timestamp if log_append_time is None else log_append_time
            record.context = context
            yield record
    except IndexError:
        raise CorruptBatch(f"a record runs past the {size} bytes of its batch", position=start) from None
    if at != size:
        raise CorruptBatch(f"{size - at} bytes are left after the last of {count} records", position=at)
