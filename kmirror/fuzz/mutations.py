"""Mutations: the ways to break a frame, one row for each, with the kinds of spot that it applies to.

A mutation changes the bytes from its spot on, none before it, and returns a detail of the change. Lengths before the
spot are not corrected: decoders fail most often on frames that are slightly wrong in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from kmirror.fuzz.spots import RawSpot, Spot, SpotKind
from kmirror.protocol.wire import uvarint

Random = Callable[[], float]
Change = Callable[[Random, bytearray, RawSpot], object]

_LENGTHS = (SpotKind.SHORT_LENGTH, SpotKind.LENGTH, SpotKind.COMPACT_LENGTH)
_COUNTS = (SpotKind.COUNT, SpotKind.COMPACT_COUNT)
_SIGNED = (SpotKind.SIGNED, SpotKind.SIGNED_LENGTH)
_VARINTS = (
    SpotKind.COMPACT_LENGTH, SpotKind.COMPACT_COUNT, SpotKind.TAG_COUNT, SpotKind.TAG, SpotKind.TAG_SIZE,
    SpotKind.TAG_MARKER, *_SIGNED,
)  # fmt: skip
_WIDTHS = {SpotKind.SHORT_LENGTH: 2, SpotKind.LENGTH: 4, SpotKind.COUNT: 4}
_COMPACT = (SpotKind.COMPACT_LENGTH, SpotKind.COMPACT_COUNT)
_UINT32 = 0xFFFFFFFF
_BROKEN_UTF8 = (
    b"\xff",
    b"\x80",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
    b"\xf8\x88\x80\x80\x80",
)
_LONG_TEXTS = (32_766, 32_767, 32_768, 65_535)
_NUMBERS = {
    width: tuple(
        (number % 2 ** (8 * width)).to_bytes(width, "big")
        for number in (0, 1, -1, -2, 2 ** (8 * width - 1), 2 ** (8 * width - 1) - 1, 2 ** (4 * width), 1 << width, 127)
    )
    for width in (1, 2, 4, 8)
}


class Mutation(NamedTuple):
    """One way to break a spot of a frame; `weight` is its relative frequency among the mutations of the same kind."""

    name: str
    kinds: tuple[SpotKind, ...]
    weight: int
    change: Change


def read_number(data: bytearray, spot: RawSpot) -> int:
    """Return the length, count, tag or size at the spot; a compact length or count without the 1 added to it."""
    kind, start, end, _ = spot
    width = _WIDTHS.get(kind)
    if width is not None:
        return int.from_bytes(data[start : start + width], "big", signed=True)
    value = 0
    for place, octet in enumerate(data[start:end]):
        value |= (octet & 0x7F) << (7 * place)
    if kind in _SIGNED:
        return (value >> 1) ^ -(value & 1)
    return value - 1 if kind in _COMPACT else value


def write_number(data: bytearray, spot: RawSpot, value: int) -> None:
    """Write a length, count, tag or size at the spot, wrapped to its width; a varint may grow."""
    kind, start, end, _ = spot
    width = _WIDTHS.get(kind)
    if width is not None:
        data[start : start + width] = (value % 2 ** (8 * width)).to_bytes(width, "big")
    elif kind in _SIGNED:
        data[start:end] = signed_varint(value)
    else:
        data[start:end] = uvarint((value + 1 if kind in _COMPACT else value) & _UINT32)


def signed_varint(value: int) -> bytes:
    """Return a number of up to 64 bits as a zigzag varint, the encoding of numbers in a record."""
    left = (value << 1) ^ (value >> 63)
    found = bytearray()
    while left > 0x7F:
        found.append(left & 0x7F | 0x80)
        left >>= 7
    found.append(left)
    return bytes(found)


# -- lengths, counts, tags ----------------------------------------------------------------------


def _add(step: int) -> Change:
    def change(random: Random, data: bytearray, spot: RawSpot) -> None:
        write_number(data, spot, read_number(data, spot) + step)

    return change


def _set(value: int) -> Change:
    def change(random: Random, data: bytearray, spot: RawSpot) -> None:
        write_number(data, spot, value)

    return change


def _set_to_rest(step: int) -> Change:
    """Return a change that sets a length to the number of bytes that are left in the frame, plus `step`."""

    def change(random: Random, data: bytearray, spot: RawSpot) -> None:
        write_number(data, spot, len(data) - spot[2] + step)

    return change


def _pad_varint(random: Random, data: bytearray, spot: RawSpot) -> int:
    """Pad a varint with 1 to 9 redundant bytes; return their number."""
    _, _, end, _ = spot
    more = 1 + int(random() * 9)
    data[end - 1] |= 0x80
    data[end:end] = b"\x80" * (more - 1) + b"\0"
    return more


def _end_in_varint(random: Random, data: bytearray, spot: RawSpot) -> None:
    del data[spot[1] :]
    data += b"\xff" * int(1 + random() * 4)


def _change_tag(random: Random, data: bytearray, spot: RawSpot) -> int:
    value = (0, 1, 2, 5, 127, 128, 10_000, 2**31 - 1, _UINT32)[int(random() * 9)]
    write_number(data, spot, value)
    return value


# -- contents -----------------------------------------------------------------------------------


def _break_text(random: Random, data: bytearray, spot: RawSpot) -> str:
    """Overwrite part of the text with invalid UTF-8; its length stays right. Return the bytes in hex."""
    _, start, end, _ = spot
    broken = _BROKEN_UTF8[int(random() * 7)]
    at = start + int(random() * max(1, end - start - len(broken) + 1))
    data[at : min(end, at + len(broken))] = broken[: max(0, end - at)]
    return broken.hex()


def _change_number(random: Random, data: bytearray, spot: RawSpot) -> str:
    _, start, end, _ = spot
    found: bytes = _NUMBERS[end - start][int(random() * 9)]
    data[start:end] = found
    return found.hex()


def _change_by_one(random: Random, data: bytearray, spot: RawSpot) -> int:
    _, start, end, _ = spot
    step = 1 if random() < 0.5 else -1
    size = end - start
    value = int.from_bytes(data[start:end], "big") + step
    data[start:end] = (value % 2 ** (8 * size)).to_bytes(size, "big")
    return step


def _set_octet(values: tuple[int, ...]) -> Change:
    def change(random: Random, data: bytearray, spot: RawSpot) -> int:
        found = values[int(random() * len(values))]
        data[spot[1]] = found
        return found

    return change


def _change_id(random: Random, data: bytearray, spot: RawSpot) -> str:
    _, start, end, _ = spot
    found = (b"\0" * 16, b"\0" * 15 + b"\1", b"\xff" * 16, b"\0" * 15 + b"\x64")[int(random() * 4)]
    data[start:end] = found
    return found.hex()


# -- whole elements -----------------------------------------------------------------------------


def _duplicate(random: Random, data: bytearray, spot: RawSpot) -> None:
    _, start, end, _ = spot
    data[end:end] = data[start:end]


def _remove(random: Random, data: bytearray, spot: RawSpot) -> None:
    del data[spot[1] : spot[2]]


# -- anything -----------------------------------------------------------------------------------


def _cut(random: Random, data: bytearray, spot: RawSpot) -> None:
    del data[spot[1] :]


def _cut_inside(random: Random, data: bytearray, spot: RawSpot) -> None:
    _, start, end, _ = spot
    del data[start + int(random() * (end - start)) :]


def _flip_bit(random: Random, data: bytearray, spot: RawSpot) -> str:
    _, start, end, _ = spot
    if start == end:
        return "none"
    at, bit = start + int(random() * (end - start)), int(random() * 8)
    data[at] ^= 1 << bit
    return f"{bit} of byte {at}"


def _write_noise(random: Random, data: bytearray, spot: RawSpot) -> str:
    _, start, end, _ = spot
    found = bytes(int(random() * 256) for _ in range(min(8, end - start)))
    data[start : start + len(found)] = found
    return found.hex()


def _insert(random: Random, data: bytearray, spot: RawSpot) -> str:
    found = bytes(int(random() * 256) for _ in range(1 + int(random() * 4)))
    data[spot[1] : spot[1]] = found
    return found.hex()


def _append(random: Random, data: bytearray, spot: RawSpot) -> int:
    more = 1 + int(random() * 16)
    data += b"\0" * more
    return more


_NUMERIC = (*_LENGTHS, *_COUNTS, *_SIGNED)
_ANY = tuple(SpotKind)

MUTATIONS: tuple[Mutation, ...] = (
    Mutation("one more", _NUMERIC, 3, _add(1)),
    Mutation("one less", _NUMERIC, 3, _add(-1)),
    Mutation("null", _NUMERIC, 3, _set(-1)),
    Mutation("below null", _NUMERIC, 1, _set(-2)),
    Mutation("none", _NUMERIC, 1, _set(0)),
    Mutation("the least", _NUMERIC, 1, _set(-(2**31))),
    Mutation("the greatest", _NUMERIC, 1, _set(2**31 - 2)),
    Mutation("all that is left", _NUMERIC, 2, _set_to_rest(0)),
    Mutation("one more than is left", _NUMERIC, 2, _set_to_rest(1)),
    Mutation("much more than is left", _NUMERIC, 1, _set_to_rest(65_536)),
    Mutation("varint made longer", _VARINTS, 3, _pad_varint),
    Mutation("varint without end", _VARINTS, 1, _end_in_varint),
    Mutation("more than 32 bits", _SIGNED, 1, _set(2**40)),
    Mutation("one tag more", (SpotKind.TAG_COUNT,), 4, _add(1)),
    Mutation("one tag less", (SpotKind.TAG_COUNT,), 2, _add(-1)),
    Mutation("very many tags", (SpotKind.TAG_COUNT,), 1, _set(_UINT32)),
    Mutation("another tag", (SpotKind.TAG,), 4, _change_tag),
    Mutation("tag one byte longer", (SpotKind.TAG_SIZE,), 3, _add(1)),
    Mutation("tag one byte shorter", (SpotKind.TAG_SIZE,), 3, _add(-1)),
    Mutation("very long tag", (SpotKind.TAG_SIZE,), 1, _set(2**31 - 1)),
    Mutation("tag of negative length", (SpotKind.TAG_SIZE,), 1, _set(_UINT32)),
    Mutation("tag twice", (SpotKind.TAGGED,), 4, _duplicate),
    Mutation("tag gone", (SpotKind.TAGGED,), 2, _remove),
    Mutation("broken UTF-8", (SpotKind.TEXT,), 6, _break_text),
    Mutation("another number", (SpotKind.NUMBER,), 8, _change_number),
    Mutation("off by one", (SpotKind.NUMBER,), 4, _change_by_one),
    Mutation("no boolean", (SpotKind.BOOL,), 4, _set_octet((2, 127, 128, 255))),
    Mutation("another id", (SpotKind.UUID,), 4, _change_id),
    Mutation("another marker", (SpotKind.MARKER, SpotKind.TAG_MARKER), 6, _set_octet((0, 1, 2, 127, 128, 254, 255))),
    Mutation("element twice", (SpotKind.ELEMENT,), 4, _duplicate),
    Mutation("element gone", (SpotKind.ELEMENT,), 2, _remove),
    Mutation("cut before", _ANY, 1, _cut),
    Mutation("cut inside", _ANY, 1, _cut_inside),
    Mutation("a bit", _ANY, 2, _flip_bit),
    Mutation("noise", _ANY, 1, _write_noise),
    Mutation("bytes put before", _ANY, 1, _insert),
    Mutation("bytes after the end", _ANY, 1, _append),
)


Table = tuple[tuple[Mutation, ...], ...]
"""The mutations of each kind, each repeated by its weight."""


def table(factors: Mapping[str, int]) -> Table:
    """Return the mutations by kind, with weights multiplied by `factors`: mutation name to factor, 1 if absent.

    A kind whose mutations all have factor 0 keeps its default weights.
    """

    def rows_of(kind: SpotKind, factors: Mapping[str, int]) -> tuple[Mutation, ...]:
        return tuple(
            row for row in MUTATIONS if kind in row.kinds for _ in range(row.weight * factors.get(row.name, 1))
        )

    return tuple(rows_of(kind, factors) or rows_of(kind, {}) for kind in SpotKind)


DEFAULT_TABLE = table({})


class Step(NamedTuple):
    """One applied mutation, its spot and its detail."""

    mutation: Mutation
    spot: RawSpot
    detail: object

    def __str__(self) -> str:
        detail = "" if self.detail is None else f" ({self.detail})"
        return f"{self.mutation.name}: {Spot(*self.spot)}{detail}"


def mutate(
    random: Random, template: bytearray, spots: list[RawSpot], by_kind: Table = DEFAULT_TABLE
) -> tuple[bytearray, list[Step]]:
    """Return a copy of the bytes with one to four spots broken, and the applied steps in order."""
    data = bytearray(template)
    n = len(spots)
    if not n:
        return data, []
    x = random()
    if x < 0.7:
        chosen = [spots[int(random() * n)]]
    else:
        # From right to left: the range of a spot is right only while nothing before it has changed.
        drawn = [spots[int(random() * n)] for _ in range(2 if x < 0.9 else 3 if x < 0.97 else 4)]
        chosen = sorted(drawn, key=_start, reverse=True)
    steps = []
    for spot in chosen:
        rows = by_kind[spot[0]]
        row = rows[int(random() * len(rows))]
        if spot[2] <= len(data):
            steps.append(Step(row, spot, row.change(random, data, spot)))
    return data, steps


def _start(spot: RawSpot) -> int:
    return spot[1]
