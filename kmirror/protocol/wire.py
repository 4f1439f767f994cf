"""Wire encoding of values: big-endian numbers, lengths, strings, bytes, counts and tagged sections.

Readers take a buffer and a position; they return the value and the position after it. They do not know field names:
errors are only signalled here (`Malformed`, `struct.error`, `IndexError`), and `careful` explains them by decoding the
same bytes again with the field table. So the fast path needs no bookkeeping. A slice past the end is short without an
error. This is harmless: positions only grow, and the outermost reader compares the last one with the buffer's length.

Writers return bytes or pass them to `put`. `Unwritable` and `struct.error` are explained in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from operator import itemgetter
from struct import Struct
from struct import error as struct_error
from typing import Any, NamedTuple, TypeAlias, TypeVar

from kmirror.kernel.java import wrap_int32
from kmirror.kernel.uuid import Uuid

Buffer: TypeAlias = bytes | bytearray | memoryview
Chunk: TypeAlias = bytes | memoryview
Put: TypeAlias = Callable[[Chunk], None]
Unpack: TypeAlias = Callable[[Buffer, int], tuple[Any, ...]]
T = TypeVar("T")

STRING_BYTES_MAX = 32767
INT32_MAX = 2**31 - 1


class Malformed(ValueError):
    """The bytes are invalid; `careful` reports position and reason."""


class Unwritable(ValueError):
    """The version cannot carry the message; `careful` reports field and reason."""


def refuse() -> bytes:
    """Raise `Unwritable`, in place of an encoding that a version does not have."""
    raise Unwritable


READ_ERRORS = (Malformed, IndexError, struct_error, ValueError)
PACK_ERRORS = (struct_error, Unwritable)
WRITE_ERRORS = (Unwritable, struct_error, AttributeError, TypeError, ValueError)


class UnknownTag(NamedTuple):
    """A tagged field that the schema does not have, kept unchanged."""

    tag: int
    data: bytes


# -- numbers ----------------------------------------------------------------------------------

unpack_bool: Unpack = Struct(">?").unpack_from
unpack_int8: Unpack = Struct(">b").unpack_from
unpack_int16: Unpack = Struct(">h").unpack_from
unpack_uint16: Unpack = Struct(">H").unpack_from
unpack_int32: Unpack = Struct(">i").unpack_from
unpack_uint32: Unpack = Struct(">I").unpack_from
unpack_int64: Unpack = Struct(">q").unpack_from
unpack_float64: Unpack = Struct(">d").unpack_from

pack_bool = Struct(">?").pack
pack_int8 = Struct(">b").pack
pack_int16 = Struct(">h").pack
pack_uint16 = Struct(">H").pack
pack_int32 = Struct(">i").pack
pack_uint32 = Struct(">I").pack
pack_int64 = Struct(">q").pack
pack_float64 = Struct(">d").pack


def fused(formats: str) -> tuple[Unpack, Callable[..., bytes]]:
    """Return the unpack and pack functions of consecutive fixed-width fields."""
    layout = Struct(">" + formats)
    return layout.unpack_from, layout.pack


def iterator(formats: str) -> Callable[[Buffer], Iterator[tuple[Any, ...]]]:
    """Return the function that divides a buffer into rows of this layout."""
    return Struct(">" + formats).iter_unpack


# Unpack functions of short int32 arrays, by length.
UNPACK_INT32S: tuple[Unpack, ...] = tuple(Struct(f">{n}i").unpack_from for n in range(32))


Rows: TypeAlias = tuple[Callable[[Buffer], Iterator[tuple[Any, ...]]], Callable[[Any], Any]]


class Shape:
    """Layouts of a struct of numbers and arrays of numbers, by the lengths of the arrays.

    Pieces are `struct` format characters, with a star for an array. Lengths take one byte, and there are no tags.
    """

    # Limit of the cache, so a peer cannot exhaust memory with arrays of many different lengths.
    CACHE_MAX = 512

    def __init__(self, *pieces: str) -> None:
        self._pieces = pieces
        # Also read by generated code.
        self.known_rows: dict[tuple[int, ...], Rows] = {}
        self.known_packs: dict[tuple[int, ...], Callable[..., bytes]] = {}

    def rows(self, *lengths: int) -> Rows | None:
        """Return the function that divides a buffer into rows, and the one that makes an array in a row a tuple.

        `lengths` are the array lengths plus one. None if a length is null or takes more than one byte.
        """
        if not 0 < min(lengths) <= max(lengths) < 128:
            return None
        if len(self.known_rows) >= self.CACHE_MAX:
            self.known_rows.clear()
        formats, at = ">", 0
        positions: list[int | slice] = []
        remaining = iter(lengths)
        for piece in self._pieces:
            if piece.endswith("*"):
                n = next(remaining) - 1
                formats += f"x{n}{piece[0]}"
                positions.append(slice(at, at + n))
                at += n
            else:
                formats += piece
                positions.append(at)
                at += 1
        found = self.known_rows[lengths] = Struct(formats + "x").iter_unpack, itemgetter(*positions)
        return found

    def pack(self, *lengths: int) -> Callable[..., bytes]:
        """Return the pack function of one struct; it takes length plus one before each array, and 0 (no tags) last."""
        if max(lengths) > 126:
            raise Unwritable  # Longer arrays use the plain encoding.
        if len(self.known_packs) >= self.CACHE_MAX:
            self.known_packs.clear()
        remaining = iter(lengths)
        formats = "".join(f"B{next(remaining)}{p[0]}" if p.endswith("*") else p for p in self._pieces)
        found = self.known_packs[lengths] = Struct(f">{formats}B").pack
        return found


def read_uuid(buf: Buffer, pos: int) -> tuple[Uuid, int]:
    """Return the uuid and the position after it; raises `Malformed` if the buffer ends before that."""
    end = pos + 16
    if end > len(buf):
        raise Malformed
    return Uuid(buf[pos:end]), end


def uuid(value: Uuid) -> bytes:
    """Return the 16 bytes of a uuid; raises `Unwritable` for any other size."""
    if len(value) != 16:
        raise Unwritable
    return value


# -- variable-length numbers ------------------------------------------------------------------


def read_uvarint(buf: Buffer, pos: int) -> tuple[int, int]:
    """Return an unsigned varint as Java reads it: at most five bytes, wrapped to a signed int32."""
    byte = buf[pos]
    pos += 1
    if byte < 0x80:
        return byte, pos
    result = byte & 0x7F
    for shift in (7, 14, 21, 28):
        byte = buf[pos]
        pos += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (result if result <= INT32_MAX else wrap_int32(result)), pos
    raise Malformed


def read_compact_length(buf: Buffer, pos: int) -> tuple[int, int]:
    """Return a length that is encoded plus one, negative for null; overflows like Java's int."""
    n = buf[pos]
    if n < 0x80:  # `read_uvarint` inlined: most lengths take one byte.
        return n - 1, pos + 1
    n, pos = read_uvarint(buf, pos)
    return (n - 1 if n != -(1 << 31) else INT32_MAX), pos


@lru_cache(4096)
def uvarint(value: int) -> bytes:
    """Return `value` as an unsigned varint; cached, since lengths repeat."""
    if value < 0:
        raise Unwritable
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


# -- strings ----------------------------------------------------------------------------------


def _text(buf: Buffer, pos: int, n: int) -> tuple[str, int]:
    end = pos + n
    # Longer strings are rejected although a compact length allows them.
    if end > len(buf) or n > STRING_BYTES_MAX:
        raise Malformed
    return str(buf[pos:end], "utf-8"), end


def read_string(buf: Buffer, pos: int) -> tuple[str, int]:
    """Return the string and the position after it; raises `Malformed` for null."""
    (n,) = unpack_int16(buf, pos)
    if n < 0:
        raise Malformed
    return _text(buf, pos + 2, n)


def read_nullable_string(buf: Buffer, pos: int) -> tuple[str | None, int]:
    """Return the string, or None for null, and the position after it."""
    (n,) = unpack_int16(buf, pos)
    return (None, pos + 2) if n < 0 else _text(buf, pos + 2, n)


def read_compact_string(buf: Buffer, pos: int) -> tuple[str, int]:
    """Return the string (with a varint length) and the position after it; raises `Malformed` for null."""
    n, pos = read_compact_length(buf, pos)
    if n < 0:
        raise Malformed
    return _text(buf, pos, n)


def read_compact_nullable_string(buf: Buffer, pos: int) -> tuple[str | None, int]:
    """Return the string (with a varint length), or None for null, and the position after it."""
    n, pos = read_compact_length(buf, pos)
    return (None, pos) if n < 0 else _text(buf, pos, n)


def string(value: str | None) -> bytes:
    """Return int16 length and UTF-8; raises `Unwritable` for None, `struct.error` beyond 32767 bytes."""
    if value is None:
        raise Unwritable
    data = value.encode()
    return pack_int16(len(data)) + data  # struct rejects a length that does not fit into an int16.


def nullable_string(value: str | None) -> bytes:
    """Return the same as `string`, with length -1 for None."""
    return b"\xff\xff" if value is None else string(value)


def compact_string(value: str | None) -> bytes:
    """Return varint length and UTF-8; raises `Unwritable` for None and beyond 32767 bytes."""
    if value is None:
        raise Unwritable
    data = value.encode()
    n = len(data)
    if n > STRING_BYTES_MAX:
        raise Unwritable
    return uvarint(n + 1) + data


def compact_nullable_string(value: str | None) -> bytes:
    """Return the same as `compact_string`, with 0 for None."""
    return b"\0" if value is None else compact_string(value)


# -- bytes and records ------------------------------------------------------------------------
# `records` are returned as a view of the buffer and written without a copy.


def _bytes(buf: Buffer, pos: int, n: int) -> tuple[bytes, int]:
    end = pos + n
    if end > len(buf):
        raise Malformed
    return bytes(buf[pos:end]), end


def read_bytes(buf: Buffer, pos: int) -> tuple[bytes, int]:
    """Return a copy of the bytes and the position after them; raises `Malformed` for null."""
    (n,) = unpack_int32(buf, pos)
    if n < 0:
        raise Malformed
    return _bytes(buf, pos + 4, n)


def read_nullable_bytes(buf: Buffer, pos: int) -> tuple[bytes | None, int]:
    """Return a copy of the bytes, or None for null, and the position after them."""
    (n,) = unpack_int32(buf, pos)
    return (None, pos + 4) if n < 0 else _bytes(buf, pos + 4, n)


def read_compact_bytes(buf: Buffer, pos: int) -> tuple[bytes, int]:
    """Return the same as `read_bytes`, for a varint length."""
    n, pos = read_compact_length(buf, pos)
    if n < 0:
        raise Malformed
    return _bytes(buf, pos, n)


def read_compact_nullable_bytes(buf: Buffer, pos: int) -> tuple[bytes | None, int]:
    """Return the same as `read_nullable_bytes`, for a varint length."""
    n, pos = read_compact_length(buf, pos)
    return (None, pos) if n < 0 else _bytes(buf, pos, n)


def _view(buf: Buffer, pos: int, n: int) -> tuple[memoryview, int]:
    end = pos + n
    if end > len(buf):
        raise Malformed
    return memoryview(buf)[pos:end], end


def read_records(buf: Buffer, pos: int) -> tuple[memoryview, int]:
    """Return a view of the records and the position after them; raises `Malformed` for null."""
    (n,) = unpack_int32(buf, pos)
    if n < 0:
        raise Malformed
    return _view(buf, pos + 4, n)


def read_nullable_records(buf: Buffer, pos: int) -> tuple[memoryview | None, int]:
    """Return a view of the records, or None for null, and the position after them."""
    (n,) = unpack_int32(buf, pos)
    return (None, pos + 4) if n < 0 else _view(buf, pos + 4, n)


def read_compact_records(buf: Buffer, pos: int) -> tuple[memoryview, int]:
    """Return the same as `read_records`, for a varint length."""
    n, pos = read_compact_length(buf, pos)
    if n < 0:
        raise Malformed
    return _view(buf, pos, n)


def read_compact_nullable_records(buf: Buffer, pos: int) -> tuple[memoryview | None, int]:
    """Return the same as `read_nullable_records`, for a varint length."""
    n, pos = read_compact_length(buf, pos)
    return (None, pos) if n < 0 else _view(buf, pos, n)


def put_bytes(put: Put, value: Chunk | None) -> None:
    """Put an int32 length and the bytes without a copy; raises `Unwritable` for None."""
    if value is None:
        raise Unwritable
    put(pack_int32(len(value)))
    put(value)


def put_nullable_bytes(put: Put, value: Chunk | None) -> None:
    """Put an int32 length (-1 for None) and the bytes without a copy."""
    if value is None:
        put(b"\xff\xff\xff\xff")
    else:
        put(pack_int32(len(value)))
        put(value)


def put_compact_bytes(put: Put, value: Chunk | None) -> None:
    """Put a varint length and the bytes without a copy; raises `Unwritable` for None."""
    if value is None:
        raise Unwritable
    put(uvarint(len(value) + 1))
    put(value)


def put_compact_nullable_bytes(put: Put, value: Chunk | None) -> None:
    """Put a varint length (0 for None) and the bytes without a copy."""
    if value is None:
        put(b"\0")
    else:
        put(uvarint(len(value) + 1))
        put(value)


# -- arrays -----------------------------------------------------------------------------------
# `width` is the minimum size in bytes of an element in any version: a count that exceeds the rest of the buffer is
# rejected before anything is allocated.


def read_count(buf: Buffer, pos: int, width: int) -> tuple[int, int]:
    """Return an int32 number of elements and the position after it; raises `Malformed` for null."""
    (n,) = unpack_int32(buf, pos)
    pos += 4
    if n < 0 or n * width > len(buf) - pos:
        raise Malformed
    return n, pos


def read_nullable_count(buf: Buffer, pos: int, width: int) -> tuple[int, int]:
    """Return an int32 number of elements, negative for null, and the position after it."""
    (n,) = unpack_int32(buf, pos)
    pos += 4
    if n * width > len(buf) - pos:
        raise Malformed
    return n, pos


def read_compact_count(buf: Buffer, pos: int, width: int) -> tuple[int, int]:
    """Return a varint number of elements and the position after it; raises `Malformed` for null."""
    n, pos = read_compact_length(buf, pos)
    if n < 0 or n * width > len(buf) - pos:
        raise Malformed
    return n, pos


def read_compact_nullable_count(buf: Buffer, pos: int, width: int) -> tuple[int, int]:
    """Return a varint number of elements, -1 for null, and the position after it."""
    n, pos = read_compact_length(buf, pos)
    if n * width > len(buf) - pos:
        raise Malformed
    return n, pos


def read_numbers(buf: Buffer, pos: int, n: int, letter: str, width: int) -> tuple[list[Any], int]:
    """Return `n` fixed-width values with `struct` format `letter`; the caller has checked the count."""
    return list(Struct(f">{n}{letter}").unpack_from(buf, pos)), pos + n * width


def read_tuple(buf: Buffer, pos: int, n: int, letter: str, width: int) -> tuple[tuple[Any, ...], int]:
    """Return the same as `read_numbers`, as a tuple."""
    return Struct(f">{n}{letter}").unpack_from(buf, pos), pos + n * width


def read_many(read: Callable[[Buffer, int], tuple[T, int]], buf: Buffer, pos: int, n: int) -> tuple[list[T], int]:
    """Return `n` elements, each read by `read`, and the position after them."""
    items = []
    for _ in range(n):
        item, pos = read(buf, pos)
        items.append(item)
    return items, pos


def read_structs(
    read: Callable[[Any, int, int], tuple[T, int]], buf: Buffer, pos: int, n: int, version: int
) -> tuple[list[T], int]:
    """Return `n` structs encoded in `version`, each read by `read`, and the position after them."""
    items = []
    for _ in range(n):
        item, pos = read(buf, pos, version)
        items.append(item)
    return items, pos


def count(items: Sequence[Any] | None) -> bytes:
    """Return the number of elements as an int32; raises `Unwritable` for None."""
    if items is None:
        raise Unwritable
    return pack_int32(len(items))


def nullable_count(items: Sequence[Any] | None) -> bytes:
    """Return the number of elements as an int32, -1 for None."""
    return b"\xff\xff\xff\xff" if items is None else pack_int32(len(items))


def compact_count(items: Sequence[Any] | None) -> bytes:
    """Return the number of elements plus one as a varint; raises `Unwritable` for None."""
    if items is None:
        raise Unwritable
    return uvarint(len(items) + 1)


def compact_nullable_count(items: Sequence[Any] | None) -> bytes:
    """Return the number of elements plus one as a varint, 0 for None."""
    return b"\0" if items is None else uvarint(len(items) + 1)


def numbers(items: Sequence[Any], letter: str) -> bytes:
    """Return encoded fixed-width numbers; `letter` is their `struct` format."""
    return Struct(f">{len(items)}{letter}").pack(*items)


# -- tagged sections --------------------------------------------------------------------------


def read_tag_head(buf: Buffer, pos: int) -> tuple[int, int, int]:
    """Return tag, size and the position of the body."""
    tag, size = buf[pos], buf[pos + 1]
    if tag < 0x80 and size < 0x80:  # The usual case.
        return tag, size, pos + 2
    tag, pos = read_uvarint(buf, pos)
    size, pos = read_uvarint(buf, pos)
    return tag, size, pos


def read_unknown_tag(buf: Buffer, pos: int, tag: int, size: int) -> tuple[UnknownTag, int]:
    """Return a tag that the schema does not have, and the position after its `size` bytes."""
    end = pos + size
    if size < 0 or end > len(buf):
        raise Malformed
    return UnknownTag(tag, bytes(buf[pos:end])), end


def read_unknown_tags(buf: Buffer, pos: int) -> tuple[tuple[UnknownTag, ...], int]:
    """Return the tagged section of a struct without tagged fields, and the position after it."""
    n, pos = read_uvarint(buf, pos)
    tags = []
    for _ in range(n):
        tag, size, pos = read_tag_head(buf, pos)
        unknown, pos = read_unknown_tag(buf, pos, tag, size)
        tags.append(unknown)
    return tuple(tags), pos


def tag(number: int, data: bytes) -> bytes:
    """Return an encoded tagged field: number, size and bytes."""
    return uvarint(number) + uvarint(len(data)) + data


def put_tags(put: Put, tags: Sequence[bytes], unknown: Sequence[UnknownTag], known_count: int) -> None:
    """Put a tagged section, by tag: the encoded known `tags` (numbers below `known_count`), then the `unknown` ones."""
    last = known_count - 1
    for number, _ in unknown:
        # As in Kafka, the greatest number is not a valid tag.
        if not last < number < INT32_MAX:
            raise Unwritable
        last = number
    put(uvarint(len(tags) + len(unknown)))
    for each in tags:
        put(each)
    for number, data in unknown:
        put(tag(number, data))
