"""Where in the segment files of a log does a comparison stand, and which batch comes next there?

Files are mapped one after the other, and what has been passed is given back: a log may be larger than the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.compare import FlippedBits, Match, flipped_bits
from kmirror.log.parting import header_offset
from kmirror.logdir.faults import fault_of, refusal
from kmirror.logdir.mapped import Mapped
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.legacy import AnyBatch, LegacyBatch

_NOTHING: Final = memoryview(b"")
_RUN_BYTES_MIN: Final = 4 * 1024
_RUN_BYTES_MAX: Final = 256 * 1024
# Offset, length, magic, the attributes of formats 0 and 1, the last offset delta of format 2. That is a byte more than
# the shortest message has: where such a one ends a run it is left for the next step.
_HEAD: Final = Struct(">qi4xbB5xi")


class Run(NamedTuple):
    """Batches in a row that are equal on both sides; `next_offset` follows the last of them."""

    batches: int
    offsets: int
    size: int
    next_offset: int


class LogCursor:
    """A place in a log, which is read from `start` up to the first batch that begins at or above `end`.

    Raises `FileFault` where bytes are no batch, and `Unreadable` where the system refuses a file.
    """

    def __init__(self, paths: Sequence[Path], *, start: int, end: int | None, position: int = 0) -> None:
        self._left = list(reversed(paths))
        self._file: Mapped | None = None
        self.end = end
        self.path: Path | None = None
        """The file that it stands in, None if there is none."""
        self.position = position
        self.next_offset = start
        """Where the offsets go on: one after the last that was passed."""
        self._window = _RUN_BYTES_MAX
        self._open(position)

    def _open(self, position: int) -> bool:
        """Go to `position` of the next file; False if there is none."""
        self._close_file()
        if not self._left:
            return False
        self.path = self._left.pop()
        try:
            self._file = Mapped(self.path)
        except (OSError, ValueError) as error:
            raise refusal(error, self.path) from None
        self.position = position
        return True

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Be at the end: what is left is not compared."""
        self._left.clear()
        self._close_file()

    @property
    def view(self) -> memoryview:
        return _NOTHING if self._file is None else self._file.view

    def is_at_end(self) -> bool:
        """Return whether no file has a byte left; goes on to the next file where one is at its end."""
        while self._file is None or self.position >= self._file.size:
            if not self._open(0):
                return True
        return False

    def batch(self) -> AnyBatch | None:
        """Return the batch that comes next, None at the end."""
        if self.is_at_end():
            return None
        assert self.path is not None, "it is not at its end"
        view, at = self.view, self.position + layout.MAGIC_AT
        try:
            is_legacy = at < len(view) and view[at] < layout.MAGIC_V2
            batch: AnyBatch = LegacyBatch(view, self.position) if is_legacy else Batch(view, self.position)
        except CorruptBatch as error:
            raise fault_of(error, self.path) from None
        return None if self.end is not None and header_offset(batch) >= self.end else batch

    def skip(self, batch: AnyBatch) -> None:
        """Pass a batch of this size."""
        self._pass(len(batch.view), batch.next_offset)

    def _pass(self, size: int, next_offset: int) -> None:
        self.position += size
        self.next_offset = max(self.next_offset, next_offset)
        if self._file is not None:
            self._file.passed(self.position)

    def pass_to(self, offset: int) -> None:
        """Pass the batches that end below `offset`."""
        while (batch := self.batch()) is not None and batch.last_offset < offset:
            self.skip(batch)

    # -- beside another ------------------------------------------------------------------------

    def match(self, batch: AnyBatch) -> Match | None:
        """Return EQUAL or FLIPPED if that is how `batch` comes next."""
        if self.is_at_end():
            return None
        there, size = self.beside(batch), len(batch.view)
        if len(there) == size and _first_block(batch.view, there, size) is None:
            return Match.EQUAL
        return None if self.flips(batch) is None else Match.FLIPPED

    def beside(self, batch: AnyBatch) -> memoryview:
        """Return as many bytes as `batch` has, from here on; fewer at the end of a file."""
        return self.view[self.position : self.position + len(batch.view)]

    def flips(self, batch: AnyBatch) -> FlippedBits | None:
        """Return the bits in which what comes next differs from `batch`, None if it is not the same but for a few."""
        there = self.beside(batch)
        flips = flipped_bits(batch.view, there) if len(there) == len(batch.view) else None
        if flips is None or (there[:8] != batch.view[:8] and not self._is_same_place(batch, there)):
            return None  # Another batch, perhaps with the same records.
        if there[8:12] != batch.view[8:12] and not self._ends_after(batch):
            return None  # A batch of another length, which begins alike.
        return flips

    def _is_same_place(self, batch: AnyBatch, there: memoryview) -> bool:
        """Return whether one of two base offsets that differ does not fit among its neighbours."""
        offset = int.from_bytes(there[:8], "big")
        ours_fits = self._offset_after(len(there)) == batch.next_offset
        theirs_fits = offset == self.next_offset and batch.base_offset != self.next_offset
        return ours_fits or theirs_fits

    def _ends_after(self, batch: AnyBatch) -> bool:
        """Return whether something begins, or the file ends, as far from here as `batch` is long."""
        size = len(batch.view)
        return self.position + size == len(self.view) or self._offset_after(size) == batch.next_offset

    def _offset_after(self, size: int) -> int:
        """Return the offset that follows the next `size` bytes, or -1."""
        at = self.position + size
        stands = self.view[at : at + 8]
        return int.from_bytes(stands, "big") if len(stands) == 8 else -1

    def take_run(self, other: LogCursor) -> Run | None:
        """Pass the whole batches that stand in equal bytes here and in `other`, and return them; None without any.

        Of each only the length and the offsets are read.
        """
        if self.is_at_end() or other.is_at_end():
            return None
        here, there = self.view[self.position :], other.view[other.position :]
        most = min(len(here), len(there))
        size = min(most, self._window)
        if most >= layout.LOG_OVERHEAD:  # A batch is looked at whole.
            size = min(most, max(size, layout.LOG_OVERHEAD + layout.OVERHEAD.unpack_from(here)[1]))
        block = _first_block(here, there, size)
        if block is None:
            self._window = min(max(2 * self._window, _RUN_BYTES_MIN), _RUN_BYTES_MAX)
        elif self._window:
            self._window = 0  # Where one batch differs the next may too: look at that one alone.
            size = _first_byte(here, there, block)
        else:
            return None
        run = self._run(size)
        if run is not None:
            self._pass(run.size, run.next_offset)
            other._pass(run.size, run.next_offset)
        return run

    def _run(self, size: int) -> Run | None:
        """Return the whole batches in the next `size` bytes, up to `end`; what is no batch is left for `batch`."""
        batches = offsets = 0
        start = self.position
        stop = start + size
        view, end, next_offset = self.view, self.end, self.next_offset
        while start + _HEAD.size <= stop:
            offset, length, magic, old_attributes, delta = _HEAD.unpack_from(view, start)
            after = start + layout.LOG_OVERHEAD + length
            if length < layout.LEGACY_LENGTH_MIN or after > stop or (end is not None and offset >= end):
                break
            if 0 <= magic < layout.MAGIC_V2:
                is_plain = not old_attributes & layout.COMPRESSION_MASK
                offsets += 1 if is_plain else max(offset + 1 - next_offset, 1)
                next_offset = offset + 1
            else:
                offsets += max(delta + 1, 0)
                next_offset = offset + delta + 1
            batches += 1
            start = after
        return Run(batches, offsets, start - self.position, next_offset) if batches else None


def _first_block(here: memoryview, there: memoryview, size: int) -> tuple[int, int] | None:
    """Return from where to where among the first `size` bytes something differs first, None if all is equal."""
    for begin in range(0, size, _RUN_BYTES_MAX):
        end = min(begin + _RUN_BYTES_MAX, size)
        # Views are compared byte by byte, copies all at once.
        if bytes(here[begin:end]) != bytes(there[begin:end]):
            return begin, end
    return None


def _first_byte(here: memoryview, there: memoryview, block: tuple[int, int]) -> int:
    """Return the position of the first byte that differs, which lies in `block`."""
    low, high = block  # All is equal before `low`, and not all before `high`.
    while high - low > 1:
        middle = (low + high) // 2
        if bytes(here[low:middle]) == bytes(there[low:middle]):
            low = middle
        else:
            high = middle
    return low
