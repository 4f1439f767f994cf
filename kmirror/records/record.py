"""Records of message format 2: data types, encoding checks and decoding.

`RecordData` is the input of a producer, `Record` the result of a read, with its position in the log. The encoding is

    length varint | attributes int8 | timestamp delta varlong | offset delta varint | key length varint, key |
    value length varint, value | header count varint | (name length varint, name, value length varint, value)*

with -1 as the length of a null key or value. The records of a batch are stored one after the other, compressed or not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from kmirror.errors import CorruptBatch, LocalProtocolError
from kmirror.kernel.arguments import shown
from kmirror.kernel.java import java_text, wrap_int64
from kmirror.records.layout import NO_SEQUENCE, NO_TIMESTAMP, TimestampType, add_to_sequence
from kmirror.records.varint import read_raw_varint, read_varlong

# With a base up to this, no offset delta and no timestamp delta of two bytes overflows a Java long.
_NEAR_MAX: Final = 0x7FFFFFFFFFFFFFFF - 0x80000000

Header: TypeAlias = tuple[str, bytes | None]
# Adds the batch's position and offset to an error about its records.
Locate: TypeAlias = Callable[[CorruptBatch], CorruptBatch]


class RecordData(NamedTuple):
    """Record to be written; a timestamp of None takes the batch's default.

    `offset` is set only to keep offsets that are not consecutive, as the cleaner does. A plain tuple of the same five
    values is accepted wherever a `RecordData` is.
    """

    key: bytes | None = None
    value: bytes | None = None
    headers: Sequence[Header] = ()
    timestamp: int | None = None
    offset: int | None = None


# `RecordData` as a plain tuple type, for code that only reads it.
RecordTuple: TypeAlias = tuple[bytes | None, bytes | None, Sequence[Header], int | None, int | None]

_LONG_MIN: Final = -0x8000000000000000
_LONG_MAX: Final = 0x7FFFFFFFFFFFFFFF


def check_records(records: object) -> None:
    """Raise `LocalProtocolError` for the first record that no batch can hold, with its number and the expected type."""
    if isinstance(records, str | bytes | RecordData) or not isinstance(records, Sequence):
        raise LocalProtocolError(f"records must be a list of RecordData, not {shown(records)}")
    for number, row in enumerate(records):
        problem = _find_problem(row)
        if problem is not None:
            raise LocalProtocolError(f"record {number}: {problem}")


def _find_problem(row: object) -> str | None:
    if not isinstance(row, tuple | list) or len(row) != len(RecordData._fields):
        hint = f"; RecordData(value={row!r:.40})" if isinstance(row, bytes) and len(row) < 30 else ""
        return f"expected a RecordData, not {shown(row)}{hint}"
    key, value, headers, timestamp, offset = row
    for name, field in (("key", key), ("value", value)):
        if field is not None and not _is_bytes(field):
            return f"the {name} must be bytes or None, not {shown(field)}{_encoded_hint(field)}"
    for name, number, least in (("timestamp", timestamp, _LONG_MIN), ("offset", offset, 0)):
        if number is not None and (type(number) is not int or not least <= number <= _LONG_MAX):
            unit = " of milliseconds" if name == "timestamp" else ""
            return f"the {name} must be an integer{unit} or None, not {shown(number)}"
    return _find_header_problem(headers) if headers else None


def _find_header_problem(headers: object) -> str | None:
    if isinstance(headers, str | bytes | Mapping) or not isinstance(headers, Sequence):
        hint = "; use list(headers.items())" if isinstance(headers, Mapping) else ""
        return f"headers must be a list of (name, value), not {shown(headers)}{hint}"
    for header in headers:
        if not isinstance(header, tuple | list) or len(header) != 2:
            return f"a header must be (name, value), not {shown(header)}"
        name, value = header
        if not isinstance(name, str) or any("\ud800" <= letter <= "\udfff" for letter in name):
            return f"the name of a header must be a string that can be encoded as UTF-8, not {shown(name)}"
        if value is not None and not _is_bytes(value):
            return f"the value of header {name!r} must be bytes or None, not {shown(value)}{_encoded_hint(value)}"
    return None


def _is_bytes(value: object) -> bool:
    # The length of a view with larger items is not its number of bytes.
    return isinstance(value, bytes | bytearray) or (isinstance(value, memoryview) and value.nbytes == len(value))


def _encoded_hint(value: object) -> str:
    return "; .encode() converts a string to bytes" if isinstance(value, str) else ""


class BatchContext(NamedTuple):
    """Values shared by the records of one batch."""

    base_offset: int = 0
    base_timestamp: int = NO_TIMESTAMP
    log_append_time: int | None = None  # If set, it replaces every record's timestamp.
    base_sequence: int = NO_SEQUENCE
    leader_epoch: int = -1
    timestamp_type: int = TimestampType.CREATE_TIME


class Record:
    """One record as read from a log; keys and values are copies and stay valid without the buffer."""

    __slots__ = ("context", "headers", "key", "offset", "timestamp", "value")

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[Header]
    context: BatchContext

    def __init__(
        self,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: list[Header],
        context: BatchContext,
    ) -> None:
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
        self.context = context

    @property
    def timestamp_type(self) -> int:
        """0 for CreateTime, 1 for LogAppendTime, -1 in message format 0."""
        return self.context.timestamp_type

    @property
    def leader_epoch(self) -> int:
        """Leader epoch of the batch, -1 in message formats 0 and 1."""
        return self.context.leader_epoch

    @property
    def sequence(self) -> int:
        """Sequence number from the producer, or -1 if the batch has none."""
        context = self.context
        if context.base_sequence < 0:
            return NO_SEQUENCE
        return add_to_sequence(context.base_sequence, wrap_int64(self.offset - context.base_offset))

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


def _read_delta(data: bytes, at: int, base: int) -> tuple[int, int]:
    """Return the varlong at `at`, zig-zag encoded and adjusted so that `base` plus it wraps like a Java long."""
    delta, at = read_varlong(data, at)
    delta = wrap_int64(base + delta) - base
    return (delta << 1 if delta >= 0 else (-delta << 1) - 1), at


def read_headers(data: bytes, at: int, end: int) -> tuple[list[Header], int]:
    """Return the headers whose count is at `at`, and the position after them."""
    start = at
    raw = data[at]
    at += 1
    if raw > 127:
        raw, at = read_raw_varint(data, start)
    if raw & 1 or raw > end - at:  # Half of `raw` is the count, and a header takes at least two bytes.
        raise CorruptBatch(f"the headers counted do not fit the {end - at} bytes left", position=start)
    headers: list[Header] = []
    while raw:
        raw -= 2
        size = data[at]
        at += 1
        if size > 127:
            size, at = read_raw_varint(data, at - 1)
        if size & 1:
            raise CorruptBatch("a header name cannot be null", position=start)
        encoded = data[at : (at := at + (size >> 1))]
        try:
            name = encoded.decode()
        except UnicodeDecodeError:
            name = java_text(encoded)
        size = data[at]
        at += 1
        if size > 127:
            size, at = read_raw_varint(data, at - 1)
        headers.append((name, None if size & 1 else data[at : (at := at + (size >> 1))]))
    return headers, at


def _decoding_error(error: Exception, start: int, size: int, locate: Locate | None) -> CorruptBatch:
    """Return the error of a record at `start` that runs past the `size` bytes of its batch, or a known `error`."""
    if not isinstance(error, CorruptBatch):
        error = CorruptBatch(f"a record runs past the {size} bytes of its batch", position=start)
    return error if locate is None else locate(error)


def _decode_wrapping(data: bytes, count: int, context: BatchContext, locate: Locate | None) -> Iterator[Record]:
    """Do the same as `decode_records` if base and delta may overflow a Java long, which then wraps."""
    base_offset, base_timestamp, log_append_time = context[:3]
    for record in decode_records(data, count, context._replace(base_offset=0, base_timestamp=0), locate):
        record.offset = wrap_int64(base_offset + record.offset)
        if log_append_time is None:
            record.timestamp = wrap_int64(base_timestamp + record.timestamp)
        record.context = context
        yield record


def decode_records(data: bytes, count: int, context: BatchContext, locate: Locate | None = None) -> Iterator[Record]:
    """Yield the `count` records that fill `data`; raises `CorruptBatch`, completed by `locate`, if they do not.

    Varints of one and two bytes are read inline, because a call would cost more than everything else here. `raw` is
    still zig-zag encoded, so an odd value is negative.
    """
    base_offset, base_timestamp, log_append_time = context[:3]
    if base_offset > _NEAR_MAX or not -_NEAR_MAX <= base_timestamp <= _NEAR_MAX:
        yield from _decode_wrapping(data, count, context, locate)
        return
    at = start = 0
    size = len(data)
    new = object.__new__
    try:
        if count < 0:
            raise CorruptBatch(f"a batch cannot hold {count} records")
        for _ in range(count):
            start = at
            raw = data[at]
            at += 1
            if raw > 127:
                raw += (data[at] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = read_raw_varint(data, at - 2)
            end = at + (raw >> 1)
            if raw & 1 or end > size:
                raise CorruptBatch(f"a record's length does not fit the {size - at} bytes left", position=start)
            raw = data[at + 1]  # Skip the record attributes: none are defined.
            at += 2
            if raw > 127:
                raw += (data[at] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = _read_delta(data, at - 2, base_timestamp)
            record = new(Record)
            if log_append_time is None:
                record.timestamp = base_timestamp + (~(raw >> 1) if raw & 1 else raw >> 1)
            else:
                record.timestamp = log_append_time
            raw = data[at]
            at += 1
            if raw > 127:
                raw += (data[at] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = read_raw_varint(data, at - 2)
            record.offset = base_offset + (~(raw >> 1) if raw & 1 else raw >> 1)
            raw = data[at]
            at += 1
            if raw > 127:
                raw, at = read_raw_varint(data, at - 1)
            record.key = None if raw & 1 else data[at : (at := at + (raw >> 1))]
            raw = data[at]
            at += 1
            if raw > 127:
                raw += (data[at] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = read_raw_varint(data, at - 2)
            record.value = None if raw & 1 else data[at : (at := at + (raw >> 1))]
            record.headers, at = read_headers(data, at, end) if data[at] else ([], at + 1)
            if at != end:
                raise CorruptBatch(f"a record ends at byte {end} but its fields end at {at}", position=start)
            record.context = context
            yield record
        if at != size:
            raise CorruptBatch(f"{size - at} bytes are left after the last of {count} records", position=at)
    except (IndexError, CorruptBatch) as error:
        raise _decoding_error(error, start, size, locate) from None
