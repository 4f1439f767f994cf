"""What must a leader know of a batch's records before it appends them? Their bounds, numbers and timestamps.

Keys, values and headers are stepped over: no record becomes an object, and none of its bytes is copied. What is not
plain is not judged here: `outline` says None, and decoding the records says what is wrong with them, if anything is.

Many producers send records that are alike: one as long as the other, with keys of one size. Of those the bytes at one
place of each are taken together, as a slice with a step, so that hundreds of them cost what a few others do.
"""

from __future__ import annotations

from struct import unpack
from typing import Final, NamedTuple, TypeAlias

from kmirror.errors import CorruptBatch
from kmirror.records.varint import read_raw_varint, read_raw_varlong

Octets: TypeAlias = bytes | bytearray

_PATIENCE: Final = 8  # After so many records of one size the next ones are looked at together, later if few were alike,
_FEWEST: Final = 16  # and not if fewer are left.
_TOGETHER: Final = 64  # So many are looked at first,
_MORE: Final = 8  # and so many times more for as long as all of them are alike.
_ENDS: Final = bytes(range(128))  # The bytes that end a varint,
_EVEN_ENDS: Final = bytes(range(0, 128, 2))  # those of them that a number from 0 on can begin with,
_EVEN_GOES_ON: Final = bytes(range(128, 256, 2))  # and with which one of two bytes can begin.
_ONE_BYTE: Final = 64  # Below it an offset delta takes one byte,
_TWO_BYTES: Final = 8192  # and below this two at the most.
_OFFSETS: Final = bytes(range(0, 2 * _ONE_BYTE, 2))  # The deltas 0, 1, 2 and so on as varints of one byte,
_OFFSETS_LOW: Final = bytes(raw & 127 | 128 for raw in range(0, 2 * _TWO_BYTES, 2))  # and of two: the first bytes,
_OFFSETS_HIGH: Final = bytes(raw >> 7 for raw in range(0, 2 * _TWO_BYTES, 2))  # and the second.


class Outline(NamedTuple):
    """What the records of a batch say together; timestamps are in ms above the batch's base timestamp."""

    least_delta: int
    greatest_delta: int
    is_numbered: bool  # Their offset deltas are 0, 1, 2 and so on.
    has_keys: bool  # None of their keys is null.


class _Shape(NamedTuple):
    """Where the small numbers of a record stand that may have others like it behind it; it has no headers.

    `places` has what may stand there in those: the same length, and other numbers of as many bytes.
    """

    places: tuple[tuple[int, bytes], ...]
    time_at: int
    time_bytes: int
    offset_at: int
    offset_bytes: int


def outline(data: Octets, at: int, count: int) -> Outline | None:
    """Return what the `count` records say, at least one, that fill `data` from `at` on; None if they are not plain."""
    number, size, in_a_row, patience = 0, 0, 0, _PATIENCE
    least, greatest, is_numbered, has_keys, raw_before = 1 << 63, -1 << 63, True, True, -1
    try:
        while number < count:
            start = at
            raw = data[at]
            at += 1
            if raw > 127:
                raw += (data[at] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = read_raw_varint(data, at - 2)
            end = at + (raw >> 1)
            if raw & 1:
                return None
            raw = data[at + 1]  # The byte before are the record's attributes: none are defined.
            at += 2
            if raw > 127:
                raw += (data[at] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = read_raw_varlong(data, at - 2)
            if raw != raw_before:
                raw_before, delta = raw, ~(raw >> 1) if raw & 1 else raw >> 1
                least = delta if delta < least else least
                greatest = delta if delta > greatest else greatest
            raw = data[at]
            at += 1
            if raw > 127:
                raw += (data[at] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = read_raw_varint(data, at - 2)
            if raw != number + number:
                is_numbered = False
            raw = data[at]
            at += 1
            if raw > 127:
                raw, at = read_raw_varint(data, at - 1)
            if raw & 1:
                has_keys = False
            else:
                at += raw >> 1
            raw = data[at]
            at += 1
            if raw > 127:
                raw += (data[at] << 7) - 128
                at += 1
                if raw > 16383:
                    raw, at = read_raw_varint(data, at - 2)
            if not raw & 1:
                at += raw >> 1
            at = _after_headers(data, at, end) if data[at] else at + 1
            if at != end:
                return None
            number += 1
            if at - start != size:
                size, in_a_row = at - start, 0
            elif (in_a_row := in_a_row + 1) >= patience and count - number >= _FEWEST:
                like_it, low, high = _alike(data, at, size, number, count)
                number += like_it
                at += like_it * size
                least, greatest = min(least, low), max(greatest, high)
                in_a_row, patience = 0, _PATIENCE if like_it >= _FEWEST else 2 * patience
    except (IndexError, CorruptBatch):
        return None
    return Outline(least, greatest, is_numbered, has_keys) if at == len(data) else None


def _after_headers(data: Octets, at: int, end: int) -> int:
    """Return the position after the headers whose count stands at `at`; -1 if it, or a name's length, is negative."""
    raw, at = read_raw_varint(data, at)
    if raw & 1 or raw > end - at:  # Half of `raw` is the count, and a header takes two bytes at least.
        return -1
    for _ in range(raw >> 1):
        size = data[at]
        at += 1
        if size > 127:
            size, at = read_raw_varint(data, at - 1)
        if size & 1:
            return -1
        at += size >> 1
        size = data[at]
        at += 1
        if size > 127:
            size, at = read_raw_varint(data, at - 1)
        if not size & 1:
            at += size >> 1
    return at


def _alike(data: Octets, at: int, size: int, number: int, count: int) -> tuple[int, int, int]:
    """Return how many records from `at` on are like the one before, and their least and greatest timestamp delta.

    That one is plain and of `size` bytes; the first of them is the batch's record `number`.
    """
    found, least, greatest = 0, 1 << 63, -1
    shape = _shape(data, at - size, size)
    together = _TOGETHER
    while shape is not None:
        here = at + found * size
        most = min(together, count - number - found, (len(data) - here) // size)
        some = _how_many(data, here, size, number + found, most, shape)
        if some:
            times = _times(data, here, here + some * size, size, shape)
            least, greatest = min(least, times[0]), max(greatest, times[1])
            found += some
        if some < together:
            break
        together *= _MORE
    return found, least, greatest


def _shape(data: Octets, start: int, size: int) -> _Shape | None:
    """Return the shape of a plain record; None if it has headers, or a number of more than two bytes."""
    _, attributes_at = read_raw_varint(data, start)
    _, offset_at = read_raw_varlong(data, attributes_at + 1)
    _, key_at = read_raw_varint(data, offset_at)
    key_size, after_key_size = read_raw_varint(data, key_at)
    value_at = after_key_size + (0 if key_size & 1 else key_size >> 1)
    value_size, after_value_size = read_raw_varint(data, value_at)
    headers_at = after_value_size + (0 if value_size & 1 else value_size >> 1)
    time_bytes, offset_bytes = offset_at - attributes_at - 1, key_at - offset_at
    if headers_at != start + size - 1 or max(time_bytes, offset_bytes, after_value_size - value_at) > 2:
        return None
    same = (*range(start, attributes_at), *range(key_at, after_key_size), *range(value_at, after_value_size))
    time_at = attributes_at + 1 - start
    return _Shape(
        (
            *((at - start, bytes(data[at : at + 1])) for at in (*same, headers_at)),
            *zip((time_at, time_at + 1), (_EVEN_GOES_ON, _ENDS) if time_bytes == 2 else (_EVEN_ENDS,), strict=False),
        ),
        time_at,
        time_bytes,
        offset_at - start,
        offset_bytes,
    )


def _how_many(data: Octets, at: int, size: int, number: int, most: int, shape: _Shape) -> int:
    """Return how many of the next `most` records have this shape and their own numbers as offset deltas."""
    most = min(most, (_ONE_BYTE if shape.offset_bytes == 1 else _TWO_BYTES) - number)
    if most <= 0 or (shape.offset_bytes == 2 and number < _ONE_BYTE):
        return 0
    for place, allowed in shape.places:
        column = data[at + place : at + most * size : size]
        if column.translate(None, allowed):
            most -= len(column.lstrip(allowed))
    offset_at = at + shape.offset_at
    columns = [data[offset_at + n : at + most * size : size] for n in range(shape.offset_bytes)]
    numbers = [_OFFSETS] if shape.offset_bytes == 1 else [_OFFSETS_LOW, _OFFSETS_HIGH]
    expected = [column[number : number + most] for column in numbers]
    return most if columns == expected else 0


def _times(data: Octets, at: int, end: int, size: int, shape: _Shape) -> tuple[int, int]:
    """Return the least and the greatest timestamp delta of records of this shape."""
    low = data[at + shape.time_at : end : size]
    if shape.time_bytes == 1:
        return min(low) >> 1, max(low) >> 1
    pairs = bytearray(2 * len(low))
    pairs[::2], pairs[1::2] = low, data[at + shape.time_at + 1 : end : size]
    numbers = unpack(f"<{len(low)}H", pairs)  # They ascend as the timestamps do: the bit at the top of `low` is set.
    return _two_bytes(min(numbers)), _two_bytes(max(numbers))


def _two_bytes(pair: int) -> int:
    """Return the number from 0 on whose varint has these two bytes, the first one lowest."""
    return (pair & 127 | pair >> 8 << 7) >> 1
