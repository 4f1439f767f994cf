"""Where does each record of a batch begin?

The length in front of each record is all that this reads, so it is many times faster than decoding, and
enough to count, to skip, to check that the records fill their batch, and to hand them to `columns`.
"""

from __future__ import annotations

from typing import Final

from kmirror.errors import CorruptBatch
from kmirror.records.layout import Buffer
from kmirror.records.varint import read_raw_varint

# How far a record reaches by its first length byte; a second byte adds 64 times itself.
_STEP: Final = tuple(1 + (raw >> 1) if raw < 128 else 2 + ((raw & 127) >> 1) for raw in range(256))


def record_starts(data: bytes, count: int, at: int, end: int) -> list[int]:
    """Return where the length of each record between `at` and `end` stands; raises as `check_framing`.

    A negative length is taken for a positive one here; `columns`, which reads the lengths again, refuses it.
    """
    if not 0 <= count <= end - at:  # Refused before a list of that length is made.
        raise CorruptBatch(f"{count} records cannot stand in {end - at} bytes")
    starts = [0] * count
    step = _STEP
    try:
        for index in range(count):
            starts[index] = at
            raw = data[at]
            if raw < 128:
                at += 1 + (raw >> 1)
            elif (more := data[at + 1]) < 128:
                at += step[raw] + (more << 6)
            else:
                raw, at = read_raw_varint(data, at)
                at += raw >> 1
    except IndexError:
        raise CorruptBatch("records run past the end of their batch", position=at) from None
    if at != end:
        raise CorruptBatch(f"{count} records end at byte {at} and their batch at {end}", position=at)
    return starts


def check_framing(data: Buffer, count: int) -> None:
    """Raise `CorruptBatch` unless the lengths of `count` records fill `data`."""
    size = len(data)
    at = 0
    if not 0 <= count <= size:
        raise CorruptBatch(f"{count} records cannot stand in {size} bytes")
    try:
        for _ in range(count):
            raw = data[at]
            if raw < 128:
                at += 1 + (raw >> 1)
            elif (more := data[at + 1]) < 128:
                raw += (more << 7) - 128
                at += 2 + (raw >> 1)
            else:
                raw, at = read_raw_varint(data, at)
                at += raw >> 1
            if raw & 1:
                raise CorruptBatch("a record's length is negative", position=at)
    except IndexError:
        raise CorruptBatch(f"records run past the {size} bytes of their batch", position=at) from None
    if at != size:
        raise CorruptBatch(f"{count} records take {at} bytes and {size} are there", position=at)
