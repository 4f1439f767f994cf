"""Sparse indexes of a segment: from offset to file position, and from timestamp to offset.

Both are kept in memory and written in Kafka's format when a segment is rolled or closed. A row of `.index` is an int32
offset relative to the segment's base offset and an int32 position; a row of `.timeindex` is an int64 timestamp and an
int32 relative offset. Rows ascend. The indexes can be rebuilt from the log, so they need not survive a crash.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from struct import Struct
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.records.layout import NO_TIMESTAMP

OFFSET_ROW = Struct(">ii")
TIME_ROW = Struct(">qi")
_NO_ROWS = array("q")
"""Shared columns of all indexes without rows (the majority); the first row allocates separate arrays."""


class TimestampOffset(NamedTuple):
    timestamp: int
    offset: int


class OffsetIndex:
    """Maps the last offset of a batch to its position, about once per `index.interval.bytes`."""

    __slots__ = ("base_offset", "offsets", "positions")

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.offsets = self.positions = _NO_ROWS

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def last_offset(self) -> int:
        return self.offsets[-1] if self.offsets else self.base_offset

    @property
    def last_position(self) -> int:
        return self.positions[-1] if self.positions else 0

    def append(self, offset: int, position: int) -> None:
        """Add a row: the last offset of the batch at byte `position`."""
        if self.offsets is _NO_ROWS:
            self.offsets, self.positions = array("q"), array("q")
        self.offsets.append(offset)
        self.positions.append(position)

    def extend(self, offsets: list[int], positions: list[int]) -> None:
        """Add rows above the last one."""
        assert not (offsets and self.offsets) or offsets[0] > self.offsets[-1], "rows ascend"
        if self.offsets is _NO_ROWS:
            self.offsets, self.positions = array("q"), array("q")
        self.offsets.fromlist(offsets)
        self.positions.fromlist(positions)

    def position_for(self, offset: int) -> int:
        """Return a position at or before the batch that contains `offset`."""
        slot = bisect_right(self.offsets, offset) - 1
        return self.positions[slot] if slot >= 0 else 0

    def first_from(self, position: int) -> int | None:
        """Return the offset in the first row at or after `position`, or None."""
        slot = bisect_left(self.positions, position)
        return self.offsets[slot] if slot < len(self.offsets) else None

    def position_well_below(self, position: int) -> int:
        """Return the position of an indexed batch that certainly ends at or before `position`, or 0."""
        slot = bisect_right(self.positions, position) - 2
        return self.positions[slot] if slot >= 0 else 0

    def truncate_to(self, offset: int) -> None:
        """Drop the rows at or above `offset`."""
        keep = bisect_left(self.offsets, offset)
        del self.offsets[keep:], self.positions[keep:]

    def clear(self) -> None:
        del self.offsets[:], self.positions[:]

    def encode(self) -> bytes:
        """Return the content of the `.index` file, with offsets relative to the base offset."""
        rows = zip(self.offsets, self.positions, strict=True)
        return b"".join(OFFSET_ROW.pack(offset - self.base_offset, position) for offset, position in rows)

    @classmethod
    def decode(cls, base_offset: int, data: bytes) -> OffsetIndex:
        """Decode an `.index` file; trailing zero rows, which a killed broker leaves, are ignored."""
        if len(data) % OFFSET_ROW.size:
            raise CorruptBatch(f"an offset index has {len(data)} bytes, expected rows of {OFFSET_ROW.size}")
        index = cls(base_offset)
        for number, (relative, position) in enumerate(OFFSET_ROW.iter_unpack(data)):
            if relative == 0 and position == 0:
                break
            is_above = not number or (base_offset + relative > index.last_offset and position > index.last_position)
            if relative < 0 or position < 0 or not is_above:
                raise CorruptBatch(
                    f"row {number} of an offset index is ({relative}, {position}), expected ascending rows",
                    position=number * OFFSET_ROW.size,
                )
            index.append(base_offset + relative, position)
        return index


class TimeIndex:
    """Maps the greatest timestamp so far to the last offset of the batch that has it."""

    __slots__ = ("base_offset", "offsets", "timestamps")

    def __init__(self, base_offset: int) -> None:
        self.base_offset = base_offset
        self.timestamps = self.offsets = _NO_ROWS

    def __len__(self) -> int:
        return len(self.timestamps)

    @property
    def last_timestamp(self) -> int:
        return self.timestamps[-1] if self.timestamps else NO_TIMESTAMP

    def last_entry(self) -> TimestampOffset:
        """Return the last row, or timestamp -1 at the base offset if there is none."""
        if not self.timestamps:
            return TimestampOffset(NO_TIMESTAMP, self.base_offset)
        return TimestampOffset(self.timestamps[-1], self.offsets[-1])

    def append_if_later(self, timestamp: int, offset: int) -> None:
        """Add a row unless the timestamp is already covered; records without a timestamp add none."""
        if timestamp > self.last_timestamp:
            if self.timestamps is _NO_ROWS:
                self.timestamps, self.offsets = array("q"), array("q")
            self.timestamps.append(timestamp)
            self.offsets.append(offset)

    def lookup(self, timestamp: int) -> TimestampOffset:
        """Return the row with the greatest timestamp that is at most `timestamp`."""
        slot = bisect_right(self.timestamps, timestamp) - 1
        if slot < 0:
            return TimestampOffset(NO_TIMESTAMP, self.base_offset)
        return TimestampOffset(self.timestamps[slot], self.offsets[slot])

    def truncate_to(self, offset: int) -> None:
        """Drop the rows whose offset is at or above `offset`."""
        keep = bisect_left(self.offsets, offset)
        del self.timestamps[keep:], self.offsets[keep:]

    def clear(self) -> None:
        del self.timestamps[:], self.offsets[:]

    def encode(self) -> bytes:
        """Return the content of the `.timeindex` file, with offsets relative to the base offset."""
        rows = zip(self.timestamps, self.offsets, strict=True)
        return b"".join(TIME_ROW.pack(timestamp, offset - self.base_offset) for timestamp, offset in rows)

    @classmethod
    def decode(cls, base_offset: int, data: bytes) -> TimeIndex:
        """Decode a `.timeindex` file; trailing zero rows, which a killed broker leaves, are ignored.

        A file with a single row is kept even if it is zero: its segment was closed, its first record has timestamp 0,
        and no record has a later one.
        """
        if len(data) % TIME_ROW.size:
            raise CorruptBatch(f"a time index has {len(data)} bytes, expected rows of {TIME_ROW.size}")
        index, is_closed = cls(base_offset), len(data) == TIME_ROW.size
        for number, (timestamp, relative) in enumerate(TIME_ROW.iter_unpack(data)):
            if timestamp == 0 and relative == 0 and not is_closed and not any(data[number * TIME_ROW.size :]):
                break
            last = index.last_entry()
            if relative < 0 or timestamp <= last.timestamp or base_offset + relative < last.offset:
                raise CorruptBatch(
                    f"row {number} of a time index is ({timestamp}, {relative}), expected ascending rows",
                    position=number * TIME_ROW.size,
                )
            index.append_if_later(timestamp, base_offset + relative)
        return index
