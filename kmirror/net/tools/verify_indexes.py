"""Do the rows of an index say what the log beside it says, while the log is being walked?

A row of an offset index names a position where a batch begins and the last offset of that batch, or of a later one
before the next row: brokers before 4.0 made one row for all the batches of an append. A row of a time index names an
offset and the timestamp of the batch that holds it, the greatest up to there.

A broker makes the index of the segment it writes to as large as it may become; after a kill it ends with rows of zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import Final

from kmirror.net.tools.faults import Tally
from kmirror.net.tools.mapped import Mapped, mapped

NEVER: Final = 1 << 64
_OFFSET_ROW: Final = Struct(">ii")
_TIME_ROW: Final = Struct(">qi")


def _rows_in(file: Mapped, row_size: int, is_last: bool, tally: Tally) -> int:
    """Return how many rows the file has without its zeros at the end."""
    if file.size % row_size:
        at = file.size - file.size % row_size
        tally.fault(file.path, f"{file.size} bytes, expected whole rows of {row_size}", at)
    rows = file.size // row_size
    if not is_last:
        return rows
    zeros = bytes(row_size)
    while rows > 1 and file.view[(rows - 1) * row_size : rows * row_size] == zeros:
        rows -= 1
    # The first row of an offset index may be of zeros: the first batch of a segment, when it holds one record.
    is_preallocated = rows == 1 and file.size > row_size and file.view[:row_size] == zeros
    return 0 if is_preallocated else rows


class OffsetRows:
    """The rows of a `.index`, held against the batches as they pass; `next_position` is where one is due."""

    def __init__(self, path: Path, base_offset: int, tally: Tally, *, is_last: bool) -> None:
        self._path, self._base, self._tally = path, base_offset, tally
        self._number = -1
        self._offset = -1
        self._is_open = False  # The row's batch has been seen, its offset not yet.
        with mapped(path) as file:
            count = _rows_in(file, _OFFSET_ROW.size, is_last, tally)
            self._data = bytes(file.view[: count * _OFFSET_ROW.size])
        self._tally.index_entries += count
        self.next_position = -1
        self.advance: Final = self._walk().__next__
        self.advance()

    def _walk(self) -> Iterator[tuple[int, int]]:
        """Go to the next row that can be one; yield where its batch begins, and one above the offset it ends with."""
        offset = position = -1
        for number, (relative, at) in enumerate(_OFFSET_ROW.iter_unpack(self._data)):
            before, position_before, offset, position = offset, position, self._base + relative, at
            self._number, self._offset, self.next_position = number, offset, position
            if relative < 0 or position < 0:
                self._wrong(f"the row is offset {self._base} + {relative} at position {position}")
                continue
            if number and (offset <= before or position <= position_before):
                self._wrong(
                    f"the row is offset {offset} at position {position}, expected more than "
                    f"{before} at {position_before} of the row before"
                )
            yield position, offset + 1
        self._number += 1
        self.next_position = NEVER
        while True:
            yield NEVER, NEVER

    def _wrong(self, reason: str) -> None:
        self._tally.fault(self._path, reason, self._number * _OFFSET_ROW.size)

    def on_batch(self, position: int, last_offset: int) -> tuple[int, int]:
        """Look at a batch that begins at or after `next_position`; return what is due now."""
        while True:
            while position > self.next_position and not self._is_open:
                self._wrong(f"the row of offset {self._offset} points to {self.next_position}, where no batch begins")
                self.advance()
            if position == self.next_position:
                self._is_open = True
            if not self._is_open:
                break
            if last_offset == self._offset:
                self._is_open = False
                self.advance()
                break
            if last_offset < self._offset and position < self._following_position():
                break
            self._wrong(
                f"the row says that the batch at {self.next_position} ends at offset {self._offset}, "
                f"and it is {last_offset}"
            )
            self._is_open = False
            self.advance()
        return self.due

    @property
    def due(self) -> tuple[int, int]:
        """Where the batch of the row that is due begins, and one above the offset with which the row says it ends."""
        return self.next_position, self._offset + 1

    def _following_position(self) -> int:
        at = (self._number + 1) * _OFFSET_ROW.size
        return int(_OFFSET_ROW.unpack_from(self._data, at)[1]) if at < len(self._data) else NEVER

    def on_end(self, position: int) -> None:
        """Look at what is left when the segment ends at `position`."""
        while self.next_position < NEVER:
            self._wrong(f"the row of offset {self._offset} points to {self.next_position}, the log ends at {position}")
            self.advance()
        self._data = b""  # The walk knows this object and this object the walk: neither goes at once.


class TimeRows:
    """The rows of a `.timeindex`, held against the batches as they pass; `next_offset` is the one that is due."""

    def __init__(self, path: Path, base_offset: int, tally: Tally, *, is_last: bool) -> None:
        self._path, self._base, self._tally = path, base_offset, tally
        self._number = -1
        self._timestamp = -1
        with mapped(path) as file:
            count = _rows_in(file, _TIME_ROW.size, is_last, tally)
            self._data = bytes(file.view[: count * _TIME_ROW.size])
        self._tally.index_entries += count
        self.next_offset = -1
        self._advance: Final = self._walk().__next__
        self._advance()

    def _walk(self) -> Iterator[None]:
        """Go to the next row that can be one."""
        timestamp = offset = -1
        for number, (stamp, relative) in enumerate(_TIME_ROW.iter_unpack(self._data)):
            before, offset_before, timestamp, offset = timestamp, offset, stamp, self._base + relative
            self._number, self._timestamp, self.next_offset = number, timestamp, offset
            if relative < 0:
                self._wrong(f"the row is timestamp {timestamp} at offset {self._base} + {relative}")
                continue
            if number and (timestamp <= before or offset < offset_before):
                self._wrong(
                    f"the row is timestamp {timestamp} at offset {offset}, expected more than "
                    f"{before} at {offset_before} of the row before"
                )
            yield
        self._number += 1
        self.next_offset = NEVER
        while True:
            yield

    def _wrong(self, reason: str) -> None:
        self._tally.fault(self._path, reason, self._number * _TIME_ROW.size)

    def on_batch(self, last_offset: int, timestamp: int, greatest: int) -> int:
        """Look at a batch that ends at or above `next_offset`; `greatest` is the greatest timestamp up to it.

        Returns what `next_offset` is now.
        """
        while self.next_offset <= last_offset:
            if timestamp != self._timestamp:
                self._wrong(
                    f"the row says that the batch of offset {self.next_offset} has the timestamp {self._timestamp}, "
                    f"and it has {timestamp}"
                )
            elif greatest != self._timestamp:
                self._wrong(
                    f"the row says that {self._timestamp} is the greatest timestamp up to offset {self.next_offset}, "
                    f"and it is {greatest}"
                )
            self._advance()
        return self.next_offset

    def on_end(self, next_offset: int, greatest: int | None) -> None:
        """Look at what is left when the segment ends before `next_offset`.

        `greatest` is its greatest timestamp where the broker has closed the index, which it does with a row for it:
        retention and lookups take the last row for the segment's greatest timestamp.
        """
        last = self._timestamp if self._number or self.next_offset == NEVER else -1
        while self.next_offset < NEVER:
            self._wrong(f"the row points to offset {self.next_offset}, the segment ends before {next_offset}")
            self._advance()
        if greatest is not None and greatest > last:
            reason = f"the last row has the timestamp {last}, and the greatest in the segment is {greatest}"
            self._tally.fault(self._path, reason, max(0, len(self._data) - _TIME_ROW.size))
        self._data = b""
