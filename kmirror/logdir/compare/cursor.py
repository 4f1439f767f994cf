"""Read position of a comparison in the segment files of a log.

Files are mapped one after the other, and pages already passed are released: a log may be larger than the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.compare import FlippedBits, Match, flipped_bits
from kmirror.log.first_difference import header_offset
from kmirror.logdir.faults import fault_of, read_error
from kmirror.logdir.mapped import MappedFile
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.legacy import AnyBatch, LegacyBatch

_NOTHING: Final = memoryview(b"")
_RUN_BYTES_MIN: Final = 4 * 1024
_RUN_BYTES_MAX: Final = 256 * 1024
# Offset, length, magic, the attributes of formats 0 and 1, and the last offset delta of format 2. This is one byte
# longer than the shortest message: such a message at the end of a run is left for the next step.
_HEAD: Final = Struct(">qi4xbB5xi")


class Run(NamedTuple):
    """Consecutive batches that are equal on both sides; `next_offset` is the offset after the last one."""

    batches: int
    offsets: int
    size: int
    next_offset: int


class LogCursor:
    """A position in a log, which is read from `start` up to the first batch that begins at or above `end`.

    Raises `FileFault` for bytes that are no batch, and `Unreadable` if the system cannot read a file.
    """

    def __init__(self, paths: Sequence[Path], *, start: int, end: int | None, position: int = 0) -> None:
        self._remaining_paths = list(reversed(paths))
        self._file: MappedFile | None = None
        self.end = end
        self.path: Path | None = None
        """The current file, None if there is none."""
        self.position = position
        self.next_offset = start
        """Next offset: one after the last offset passed."""
        self._window = _RUN_BYTES_MAX
        self._open(position)

    def _open(self, position: int) -> bool:
        """Go to `position` of the next file; return False if there is none."""
        self._close_file()
        if not self._remaining_paths:
            return False
        self.path = self._remaining_paths.pop()
        try:
            self._file = MappedFile(self.path)
        except (OSError, ValueError) as error:
            raise read_error(error, self.path) from None
        self.position = position
        return True

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Move to the end: the rest is not compared."""
        self._remaining_paths.clear()
        self._close_file()

    @property
    def view(self) -> memoryview:
        return _NOTHING if self._file is None else self._file.view

    def is_at_end(self) -> bool:
        """Return whether no bytes are left; moves to the next file at the end of one."""
        while self._file is None or self.position >= self._file.size:
            if not self._open(0):
                return True
        return False

    def batch(self) -> AnyBatch | None:
        """Return the next batch, None at the end."""
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
        """Advance by the size of `batch`."""
        self._advance(len(batch.view), batch.next_offset)

    def _advance(self, size: int, next_offset: int) -> None:
        self.position += size
        self.next_offset = max(self.next_offset, next_offset)
        if self._file is not None:
            self._file.release_before(self.position)

    def skip_below(self, offset: int) -> None:
        """Skip the batches that end below `offset`."""
        while (batch := self.batch()) is not None and batch.last_offset < offset:
            self.skip(batch)

    # -- comparison with the other side -------------------------------------------------------

    def match(self, batch: AnyBatch) -> Match | None:
        """Return EQUAL or FLIPPED if `batch` comes next here, else None."""
        if self.is_at_end():
            return None
        other_bytes, size = self.next_bytes(batch), len(batch.view)
        if len(other_bytes) == size and _first_block(batch.view, other_bytes, size) is None:
            return Match.EQUAL
        return None if self.bit_flips(batch) is None else Match.FLIPPED

    def next_bytes(self, batch: AnyBatch) -> memoryview:
        """Return the next bytes, as many as `batch` has; fewer at the end of a file."""
        return self.view[self.position : self.position + len(batch.view)]

    def bit_flips(self, batch: AnyBatch) -> FlippedBits | None:
        """Return the bits in which the next batch differs from `batch`, None if it is a different batch."""
        other_bytes = self.next_bytes(batch)
        bit_flips = flipped_bits(batch.view, other_bytes) if len(other_bytes) == len(batch.view) else None
        if bit_flips is None or (other_bytes[:8] != batch.view[:8] and not self._has_same_position(batch, other_bytes)):
            return None  # A different batch, perhaps with the same records.
        if other_bytes[8:12] != batch.view[8:12] and not self._ends_after(batch):
            return None  # A batch of a different length with the same start.
        return bit_flips

    def _has_same_position(self, batch: AnyBatch, other_bytes: memoryview) -> bool:
        """Return whether one of two different base offsets does not fit its neighbours."""
        offset = int.from_bytes(other_bytes[:8], "big")
        ours_fits = self._offset_after(len(other_bytes)) == batch.next_offset
        theirs_fits = offset == self.next_offset and batch.base_offset != self.next_offset
        return ours_fits or theirs_fits

    def _ends_after(self, batch: AnyBatch) -> bool:
        """Return whether a batch begins, or the file ends, at the distance of `batch`'s length."""
        size = len(batch.view)
        return self.position + size == len(self.view) or self._offset_after(size) == batch.next_offset

    def _offset_after(self, size: int) -> int:
        """Return the offset after the next `size` bytes, or -1."""
        at = self.position + size
        stored = self.view[at : at + 8]
        return int.from_bytes(stored, "big") if len(stored) == 8 else -1

    def skip_equal(self, other: LogCursor) -> Run | None:
        """Pass and return the whole batches with equal bytes here and in `other`; None if there are none.

        Only their lengths and offsets are read.
        """
        if self.is_at_end() or other.is_at_end():
            return None
        own_bytes, other_bytes = self.view[self.position :], other.view[other.position :]
        common_size = min(len(own_bytes), len(other_bytes))
        size = min(common_size, self._window)
        if common_size >= layout.LOG_OVERHEAD:  # Compare at least one whole batch.
            size = min(common_size, max(size, layout.LOG_OVERHEAD + layout.OVERHEAD.unpack_from(own_bytes)[1]))
        block = _first_block(own_bytes, other_bytes, size)
        if block is None:
            self._window = min(max(2 * self._window, _RUN_BYTES_MIN), _RUN_BYTES_MAX)
        elif self._window:
            self._window = 0  # After a difference the next batch may differ too: compare only that one.
            size = _first_byte(own_bytes, other_bytes, block)
        else:
            return None
        run = self._run(size)
        if run is not None:
            self._advance(run.size, run.next_offset)
            other._advance(run.size, run.next_offset)
        return run

    def _run(self, size: int) -> Run | None:
        """Return the whole batches in the next `size` bytes, up to `end`; invalid bytes are left for `batch`."""
        batches = offsets = 0
        start = self.position
        stop = start + size
        view, end, next_offset = self.view, self.end, self.next_offset
        while start + _HEAD.size <= stop:
            offset, length, magic, legacy_attributes, delta = _HEAD.unpack_from(view, start)
            next_start = start + layout.LOG_OVERHEAD + length
            if length < layout.LEGACY_LENGTH_MIN or next_start > stop or (end is not None and offset >= end):
                break
            if 0 <= magic < layout.MAGIC_V2:
                is_plain = not legacy_attributes & layout.COMPRESSION_MASK
                offsets += 1 if is_plain else max(offset + 1 - next_offset, 1)
                next_offset = offset + 1
            else:
                offsets += max(delta + 1, 0)
                next_offset = offset + delta + 1
            batches += 1
            start = next_start
        return Run(batches, offsets, start - self.position, next_offset) if batches else None


def _first_block(own_bytes: memoryview, other_bytes: memoryview, size: int) -> tuple[int, int] | None:
    """Return the first block within `size` bytes that differs, as (start, end); None if all bytes are equal."""
    for begin in range(0, size, _RUN_BYTES_MAX):
        end = min(begin + _RUN_BYTES_MAX, size)
        # Views are compared byte by byte, copies at once.
        if bytes(own_bytes[begin:end]) != bytes(other_bytes[begin:end]):
            return begin, end
    return None


def _first_byte(own_bytes: memoryview, other_bytes: memoryview, block: tuple[int, int]) -> int:
    """Return the position of the first different byte, which lies in `block`."""
    low, high = block  # Everything before `low` is equal, not everything before `high`.
    while high - low > 1:
        middle = (low + high) // 2
        if bytes(own_bytes[low:middle]) == bytes(other_bytes[low:middle]):
            low = middle
        else:
            high = middle
    return low
