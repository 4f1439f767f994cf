"""Verification of index rows against the log during the walk.

A row of an offset index has a position at which a batch begins and the last offset of that batch, or of a later one
before the next row: brokers before 4.0 made one row for all batches of an append. A row of a time index has an offset
and the timestamp of the batch that contains it, the greatest up to there.

A broker preallocates the index of the segment that it writes to; after a kill it ends with rows of zeros.

Almost every row is correct, and the walk checks these itself: it compares `due` with each batch and takes the next row
from `remaining`. A correct row needs no other check, since offsets and positions ascend in the log. Only if row and
batch differ, the walk calls `on_batch`, which finds the fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import length_hint
from os import SEEK_END
from pathlib import Path
from struct import Struct
from typing import Final

from kmirror.log.index import OFFSET_ROW, TIME_ROW
from kmirror.logdir.faults import Tally, reading
from kmirror.logdir.mapped import MappedFile, mapped
from kmirror.records.layout import end_of_content

NEVER: Final = 1 << 64
NO_ROW: Final = (NEVER, NEVER)


class _Rows:
    """Consecutive rows of two numbers."""

    _LAYOUT: Struct

    def __init__(self, path: Path, base_offset: int, tally: Tally, *, is_last: bool) -> None:
        self._path, self._base, self._tally = path, base_offset, tally
        size = self._LAYOUT.size
        with mapped(path) as file:
            self._count = _rows_in(file, size, is_last, tally)
            self._data = bytes(file.view[: self._count * size])
        tally.index_entries += self._count
        self._checked = -1  # Number of the last row given to `_check_row`.
        self.remaining: Iterator[tuple[int, int]] = self._LAYOUT.iter_unpack(self._data)
        self._advance()

    def _number(self) -> int:
        """Return the number of the due row; only valid while there is one."""
        return self._count - length_hint(self.remaining) - 1

    def _row(self, number: int) -> tuple[int, int]:
        if number >= self._count:
            return NO_ROW
        first, second = self._LAYOUT.unpack_from(self._data, number * self._LAYOUT.size)
        return first, second

    def _advance(self) -> None:
        self.due = next(self.remaining, NO_ROW)
        self._skip_impossible()

    def skip_to(self, due: tuple[int, int]) -> tuple[int, int]:
        """Set the due row to `due`, skip impossible rows from there on, and return the new due row."""
        self.due = due
        self._skip_impossible()
        return self.due

    def _skip_impossible(self) -> None:
        """Report and skip due rows that are impossible and cannot be compared with a batch."""
        while self.due != NO_ROW and self._checked < self._number():
            self._checked = self._number()
            if not self._check_row(self.due, self._row(self._checked - 1) if self._checked else None):
                self.due = next(self.remaining, NO_ROW)

    def _check_row(self, row: tuple[int, int], previous: tuple[int, int] | None) -> bool:
        """Report the faults of the row itself; return whether the row can be compared with the batches of the log."""
        raise NotImplementedError

    def _fault(self, reason: str) -> None:
        self._tally.add_fault(self._path, reason, self._number() * self._LAYOUT.size)


class OffsetRows(_Rows):
    """Rows of an `.index`, compared with the batches; a row is (relative offset, position)."""

    _LAYOUT = OFFSET_ROW

    def __init__(self, path: Path, base_offset: int, tally: Tally, *, is_last: bool) -> None:
        super().__init__(path, base_offset, tally, is_last=is_last)
        self._is_open = False  # True if the due row's batch was seen, but not yet its offset.
        self._seen = -1  # Last offset of the newest batch since then.

    def _check_row(self, row: tuple[int, int], previous: tuple[int, int] | None) -> bool:
        relative, position = row
        if relative < 0 or position < 0:
            self._fault(f"the row is offset {self._base} + {relative} at position {position}")
            return False
        if previous is not None and (relative <= previous[0] or position <= previous[1]):
            self._fault(
                f"the row is offset {self._base + relative} at position {position}, expected more than "
                f"{self._base + previous[0]} at {previous[1]} of the row before"
            )
        return True

    def on_batch(self, position: int, last_offset: int) -> None:
        """Check a batch that begins at or after the position of the due row."""
        self._skip_impossible()
        while True:
            while position > self.due[1] and not self._is_open:
                offset = self._base + self.due[0]
                self._fault(f"the row of offset {offset} points to {self.due[1]}, where no batch begins")
                self._advance()
            if position == self.due[1]:
                self._is_open = True
            if not self._is_open:
                return
            offset, begin = self._base + self.due[0], self.due[1]
            # A batch at or after the next row's position does not belong to this row.
            is_covered = position == begin or position < self._row(self._number() + 1)[1]
            if is_covered:
                self._seen = last_offset
                if last_offset < offset:
                    return
            if self._seen != offset:
                self._fault(f"the row says that the batch at {begin} ends at offset {offset}, but it is {self._seen}")
            self._is_open = False
            self._advance()
            if is_covered and self._seen == offset:
                return

    def on_end(self, position: int) -> None:
        """Check the remaining rows when the segment ends at `position`."""
        self._skip_impossible()
        while self.due != NO_ROW:
            offset = self._base + self.due[0]
            self._fault(f"the row of offset {offset} points to {self.due[1]}, but the log ends at {position}")
            self._advance()


class TimeRows(_Rows):
    """Rows of a `.timeindex`, compared with the batches; a row is (timestamp, relative offset)."""

    _LAYOUT = TIME_ROW

    def _check_row(self, row: tuple[int, int], previous: tuple[int, int] | None) -> bool:
        timestamp, relative = row
        if relative < 0:
            self._fault(f"the row is timestamp {timestamp} at offset {self._base} + {relative}")
            return False
        if previous is not None and (timestamp <= previous[0] or relative < previous[1]):
            self._fault(
                f"the row is timestamp {timestamp} at offset {self._base + relative}, expected more than "
                f"{previous[0]} at {self._base + previous[1]} of the row before"
            )
        return True

    def on_batch(self, last_offset: int, timestamp: int, max_timestamp: int) -> None:
        """Check a batch that ends at or above the offset of the due row.

        `max_timestamp` is the greatest timestamp up to it.
        """
        self._skip_impossible()
        while self.due[1] <= last_offset - self._base:
            row_timestamp, relative = self.due
            if timestamp != row_timestamp:
                self._fault(
                    f"the row says that the batch of offset {self._base + relative} has the timestamp {row_timestamp}, "
                    f"but it has {timestamp}"
                )
            elif max_timestamp != row_timestamp:
                self._fault(
                    f"the row says that {row_timestamp} is the greatest timestamp up to offset "
                    f"{self._base + relative}, but it is {max_timestamp}"
                )
            self._advance()

    def on_end(self, next_offset: int, max_timestamp: int | None) -> None:
        """Check the remaining rows when the segment ends before `next_offset`.

        `max_timestamp` is that of the segment if the broker has closed the index. It then adds a row for it, since
        retention and lookups use the last row as the segment's greatest timestamp.
        """
        self._skip_impossible()
        while self.due != NO_ROW:
            offset = self._base + self.due[1]
            self._fault(f"the row points to offset {offset}, but the segment ends before {next_offset}")
            self._advance()
        last = self._row(self._count - 1)[0] if self._count else -1
        if max_timestamp is not None and max_timestamp > last:
            reason = f"the last row has the timestamp {last}, but the greatest in the segment is {max_timestamp}"
            self._tally.add_fault(self._path, reason, max(0, len(self._data) - self._LAYOUT.size))


def last_row(path: Path, layout: Struct) -> bytes | None:
    """Return the last complete row of an index file, or None."""
    if not path.is_file():
        return None
    with reading(path), path.open("rb") as stream:
        rows = stream.seek(0, SEEK_END) // layout.size
        if rows == 0:
            return None
        stream.seek((rows - 1) * layout.size)
        return stream.read(layout.size)


def _rows_in(file: MappedFile, row_size: int, is_last: bool, tally: Tally) -> int:
    """Return the number of rows without the trailing zeros."""
    if file.size % row_size:
        at = file.size - file.size % row_size
        tally.add_fault(file.path, f"{file.size} bytes, expected whole rows of {row_size}", at)
    rows = file.size // row_size
    if not is_last:
        return rows
    rows = min(rows, max(1, -(-end_of_content(file.view) // row_size)))
    # The first row of an offset index may be zero: for a first batch of one record.
    is_preallocated = rows == 1 and file.size > row_size and not any(file.view[:row_size])
    return 0 if is_preallocated else rows
