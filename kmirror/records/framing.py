"""Positions of the records in a batch.

Only the length before each record is read. This is much faster than decoding, and enough to count or skip records, to
check that they fill their batch, and to pass them to `columns`.
"""

from __future__ import annotations

from typing import Final

from kmirror.errors import CorruptBatch
from kmirror.records.layout import Buffer
from kmirror.records.varint import read_raw_varint

# Size of a record by its first length byte; a second length byte adds 64 times its value.
_STEP: Final = tuple(1 + (raw >> 1) if raw < 128 else 2 + ((raw & 127) >> 1) for raw in range(256))


def record_starts(data: bytes, count: int, at: int, end: int) -> list[int]:
    """Return the positions of the records' lengths between `at` and `end`; raises like `check_framing`.

    A negative length is treated as positive; `columns`, which reads the lengths again, rejects it.
    """
    if not 0 <= count <= end - at:  # Checked before the list is allocated.
        raise CorruptBatch(f"{count} records do not fit into {end - at} bytes")
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
        raise CorruptBatch(f"{count} records end at byte {at}, but their batch at {end}", position=at)
    return starts


def check_framing(data: Buffer, count: int) -> None:
    """Raise `CorruptBatch` unless the lengths of `count` records fill `data`."""
    size = len(data)
    at = 0
    if not 0 <= count <= size:
        raise CorruptBatch(f"{count} records do not fit into {size} bytes")
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
        raise CorruptBatch(f"{count} records take {at} bytes, but there are {size}", position=at)
