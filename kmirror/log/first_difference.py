"""First difference between two batches: the field, the byte, and the content on both sides.

Rule 1: the message format is compared first; then offsets, leader epoch, producer and the rest of the header; then the
records; then the checksum, the size, and bytes outside all fields. Rule 2: byte positions count from the start of the
batch, or of the key, value or header of a record: a record may be compressed, and the checksum differs whenever a value
does.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import Final, NamedTuple, TypeAlias

from kmirror.errors import CorruptBatch
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.layout import MAGIC_V2, Buffer
from kmirror.records.legacy import AnyBatch, LegacyBatch
from kmirror.records.record import Record

Value: TypeAlias = int | str | None
"""Content of a field on one side: a number or a description, None if absent or unknown."""
BATCH: Final = "batch"
"""The field of a `FirstDifference` if one side has no batch."""
NONE: Final = "none"
"""The value for a side without a batch."""
_SHOWN_BYTES_MAX: Final = 32
_BEFORE: Final = 8  # Bytes shown before the first difference of long values.
_PLACE_BYTES: Final = 8

# Fields of the batch header with their names in words, most informative first; the checksum comes after the records.
_FIELDS: Final = {
    "base_offset": "base offset",
    "last_offset": "last offset",
    "partition_leader_epoch": "leader epoch",
    "producer_id": "producer id",
    "producer_epoch": "producer epoch",
    "base_sequence": "base sequence",
    "record_count": "record count",
    "base_timestamp": "base timestamp",
    "max_timestamp": "max timestamp",
}


class Place(NamedTuple):
    """First byte that differs: its position in `within`, and the bytes from there on as hex digits.

    `within` is `batch`, `key`, `value` or `header NAME`. A side that ends before the byte has no digits.
    """

    within: str
    byte: int
    expected: str
    found: str

    def words(self, one: str, other: str) -> str:
        """Return the place in words; `one` and `other` are the names of the sides."""
        return (
            f"byte {self.byte} of the {self.within}: {_side_text(self.expected, one)}, {_side_text(self.found, other)}"
        )


def _side_text(digits: str, side: str) -> str:
    return f"{bytes.fromhex(digits).hex(' ')} on the {side}" if digits else f"end of data on the {side}"


class FirstDifference(NamedTuple):
    """First difference of two sequences: the values of `field` on both sides, at an offset.

    `field` is the name in words, or BATCH if one side has no batch; then the values are the offsets of the existing
    batch and NONE. `place` is None if one side has nothing, and for a field decoded from compressed bytes.
    """

    offset: int
    field: str
    expected: Value
    found: Value
    place: Place | None = None


def batch_difference(expected: AnyBatch, found: AnyBatch) -> FirstDifference:
    """Return the first difference between two batches with different bytes."""
    offset = min(header_offset(expected), header_offset(found))
    if expected.magic != found.magic:
        return FirstDifference(
            offset, "message format", expected.magic, found.magic, _field_place("magic", expected, found)
        )
    if isinstance(expected, LegacyBatch) or isinstance(found, LegacyBatch):
        if expected.last_offset != found.last_offset:
            place = _field_place("base_offset", expected, found)
            return FirstDifference(offset, "offset", expected.last_offset, found.last_offset, place)
        return _content_difference(expected, found, offset)
    for name, words in _FIELDS.items():
        expected_value, found_value = getattr(expected, name), getattr(found, name)
        if expected_value != found_value:
            place = _field_place("last_offset_delta" if name == "last_offset" else name, expected, found)
            return FirstDifference(offset, words, expected_value, found_value, place)
    if (expected.attributes ^ found.attributes) & 0xFF:  # The upper byte is unused.
        place = _field_place("attributes", expected, found)
        return FirstDifference(offset, "attributes", _attributes(expected), _attributes(found), place)
    return _content_difference(expected, found, offset)


def bytes_difference(expected: AnyBatch, found: Buffer) -> FirstDifference:
    """Return the first difference between a batch and bytes of equal size; like `batch_difference` for a batch."""
    try:
        view = memoryview(found)
        is_legacy = view[layout.MAGIC_AT] < MAGIC_V2
        return batch_difference(expected, LegacyBatch(view) if is_legacy else Batch(view))
    except CorruptBatch:
        return _byte_difference(expected.view, found, header_offset(expected))


def missing_batch(batch: AnyBatch, *, is_expected: bool) -> FirstDifference:
    """Return the difference for a batch that only one side has."""
    values = (offsets(batch), NONE) if is_expected else (NONE, offsets(batch))
    return FirstDifference(header_offset(batch), BATCH, *values)


# -- behind the header ------------------------------------------------------------------------


def _content_difference(expected: AnyBatch, found: AnyBatch, offset: int) -> FirstDifference:
    """Return the first record that differs, or else the checksum, the size or the byte."""
    difference = _records_difference(expected, found)
    if difference is not None:
        return difference
    if expected.crc != found.crc:
        # In formats 0 and 1 it is the four bytes before the magic.
        place = _field_place("crc" if expected.magic >= MAGIC_V2 else "partition_leader_epoch", expected, found)
        return FirstDifference(offset, "CRC", f"{expected.crc:#010x}", f"{found.crc:#010x}", place)
    if expected.size_in_bytes != found.size_in_bytes:
        sizes = expected.size_in_bytes, found.size_in_bytes
        return FirstDifference(offset, "size in bytes", *sizes, _field_place("batch_length", expected, found))
    return _byte_difference(expected.view, found.view, offset)


def _byte_difference(expected: Buffer, found: Buffer, offset: int) -> FirstDifference:
    at = first_byte(expected, found)
    assert at is not None, "the batches differ"
    values = (f"{expected[at]:#04x}", f"{found[at]:#04x}")
    return FirstDifference(offset, byte_field(at), *values, place_in("batch", expected, found, at))


def _records_difference(expected: AnyBatch, found: AnyBatch) -> FirstDifference | None:
    """Return the first difference between the records, None if there is none or they cannot be decoded."""
    try:
        for one, other in zip_longest(expected.records(), found.records()):
            if one is None or other is None:
                return None  # Counts differ only if a batch is truncated.
            difference = record_difference(one, other, is_offset_compared=True)
            if difference is not None:
                if difference.place is None:
                    difference = difference._replace(place=_records_place(expected, found))
                return difference
    except CorruptBatch:
        pass
    return None


def _records_place(expected: AnyBatch, found: AnyBatch) -> Place | None:
    """Return the first difference in the bytes of uncompressed records; None for compressed ones."""
    if expected.compression is not Compression.NONE or found.compression is not Compression.NONE:
        return None
    # In formats 0 and 1 the checksum before the magic differs too and says nothing.
    start = layout.RECORDS_AT if expected.magic >= MAGIC_V2 else layout.MAGIC_AT
    at = first_byte(expected.view, found.view, start)
    return None if at is None else place_in("batch", expected.view, found.view, at)


def record_difference(expected: Record, found: Record, *, is_offset_compared: bool = False) -> FirstDifference | None:
    """Return the first difference between two records, or None; offsets count only with `is_offset_compared`."""
    offset = min(expected.offset, found.offset) if is_offset_compared else expected.offset
    for name in ("offset", "timestamp") if is_offset_compared else ("timestamp",):
        expected_value, found_value = getattr(expected, name), getattr(found, name)
        if expected_value != found_value:
            return FirstDifference(offset, f"record {name}", expected_value, found_value)
    for name in ("key", "value"):
        expected_value, found_value = getattr(expected, name), getattr(found, name)
        if expected_value != found_value:
            return FirstDifference(
                offset,
                f"record {name}",
                *_excerpts(expected_value, found_value),
                _value_place(name, expected_value, found_value),
            )
    if expected.headers == found.headers:
        return None
    for number, (one, other) in enumerate(zip_longest(expected.headers, found.headers)):
        if one != other:
            if one is None or other is None or one[0] != other[0]:
                names = [None if header is None else header[0] for header in (one, other)]
                return FirstDifference(offset, f"record header {number}", names[0], names[1])
            values = one[1], other[1]
            place = _value_place(f"header {one[0]}", *values)
            return FirstDifference(offset, f"record header {one[0]}", *_excerpts(*values), place)
    raise AssertionError("headers that are not equal differ in one")


# -- positions and texts ----------------------------------------------------------------------


def first_byte(expected: Buffer, found: Buffer, start: int = 0) -> int | None:
    """Return the first position from `start` on at which two buffers differ, None if one is a prefix of the other."""
    step = 1 << 12
    end = min(len(expected), len(found))
    for begin in range(start, end, step):
        stop = min(begin + step, end)
        if bytes(expected[begin:stop]) != bytes(found[begin:stop]):
            return next(at for at in range(begin, stop) if expected[at] != found[at])
    return None


def place_in(within: str, expected: Buffer, found: Buffer, byte: int, size: int = _PLACE_BYTES) -> Place:
    """Return the place at a byte, with the `size` bytes from there on."""
    digits = (bytes(data[byte : byte + size]).hex() for data in (expected, found))
    return Place(within, byte, *digits)


def _field_place(name: str, expected: AnyBatch, found: AnyBatch) -> Place | None:
    """Return the first byte of a header field that differs, with the bytes of the field from there on."""
    start, size = layout.field_range(name)
    at = first_byte(expected.view[: start + size], found.view[: start + size], start)
    return None if at is None else place_in("batch", expected.view, found.view, at, start + size - at)


def _value_place(within: str, expected: bytes | None, found: bytes | None) -> Place | None:
    if expected is None or found is None:
        return None
    return place_in(within, expected, found, _first_difference_at(expected, found))


def _first_difference_at(expected: bytes, found: bytes) -> int:
    at = first_byte(expected, found)
    return min(len(expected), len(found)) if at is None else at


def _excerpts(expected: bytes | None, found: bytes | None) -> tuple[Value, Value]:
    """Return the `repr` of both values; long ones are shortened to the part around the first difference."""
    at = 0 if expected is None or found is None else _first_difference_at(expected, found)
    return _excerpt(expected, at), _excerpt(found, at)


def _excerpt(value: bytes | None, at: int) -> Value:
    if value is None:
        return None
    if len(value) <= _SHOWN_BYTES_MAX:
        return repr(value)
    start = max(0, min(at - _BEFORE, len(value) - _SHOWN_BYTES_MAX))
    end = start + _SHOWN_BYTES_MAX
    text = f"{'...' if start else ''}{value[start:end]!r}{'...' if end < len(value) else ''}"
    return f"{text} ({len(value)} bytes)"


def _attributes(batch: AnyBatch) -> str:
    """Return the attributes in words."""
    bits = batch.attributes & layout.COMPRESSION_MASK
    words = [Compression(bits).name.lower() if bits <= Compression.ZSTD else f"compression {bits}"]
    words.append(batch.timestamp_type.name.lower())
    flags = {
        "transactional": layout.TRANSACTIONAL_FLAG,
        "control": layout.CONTROL_FLAG,
        "delete horizon": layout.DELETE_HORIZON_FLAG,
        "bit 7": 0x80,
    }
    words += [name for name, flag in flags.items() if batch.attributes & flag]
    return f"{batch.attributes & 0xFF:#04x} ({', '.join(words)})"


def byte_field(at: int) -> str:
    """Return the name of a byte that belongs to no field that differs."""
    return f"byte {at} of the batch"


def header_offset(batch: AnyBatch) -> int:
    """Return the offset in the header: the first offset, or the last one in formats 0 and 1."""
    return batch.last_offset if isinstance(batch, LegacyBatch) else batch.base_offset


def offsets(batch: AnyBatch) -> str:
    """Return the offsets in the header, as text."""
    first, last = header_offset(batch), batch.last_offset
    return f"{first}-{last}" if batch.magic >= MAGIC_V2 else str(last)
