"""Loading and checking the segments of a partition folder.

Loading uses the log walk of `verify` without the other files, and stops at the first fault. The content of indexes and
snapshots is not read, since it is not loaded, but their names show whether a segment is missing. Three sources show
whether the log ends early: the time index of a closed segment, the log start offset and the recovery point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from kmirror.errors import CorruptBatch
from kmirror.log.index import TIME_ROW
from kmirror.log.state_files import TIME_INDEX_SUFFIX
from kmirror.logdir.faults import FileFault, Gap, Tally
from kmirror.logdir.mapped import MappedFile, WholeFile
from kmirror.logdir.partition import PartitionFolder
from kmirror.logdir.segments import SegmentFile, read_segment, segment_fault
from kmirror.logdir.verify.indexes import NEVER, last_row
from kmirror.logdir.verify.log_walk import LogWalk


class LoadedSegments(NamedTuple):
    """Checked bytes of a log by base offset of the segments; `end_offset` is exclusive."""

    segments: dict[int, bytes]
    end_offset: int
    batches: int
    gaps: list[Gap]


def load_segments(
    folder: PartitionFolder, flushed_offset: int | None, on_read: Callable[[int], None]
) -> LoadedSegments:
    """Return the log in `folder`; `flushed_offset` is its recovery point in the checkpoint, None without an entry.

    `on_read` is called with the number of bytes read since its last call. Raises `FileFault` at the first fault and
    `Unreadable` if the system cannot read a file.
    """
    if not folder.segments:
        # A broker starts an empty segment at the log start offset.
        folder = folder._replace(segments=[SegmentFile(folder.log_start_offset, folder.path, 0)])
    tally = Tally(_raise_fault, on_read)
    load = _Load(folder, tally, flushed_offset)
    end_offset = load.run()
    return LoadedSegments(load.segments, end_offset, tally.batches, tally.gaps)


def _raise_fault(fault: FileFault) -> NoReturn:
    raise fault from None


class _Load(LogWalk):
    """A walk that keeps the bytes it has checked."""

    def __init__(self, folder: PartitionFolder, tally: Tally, flushed_offset: int | None) -> None:
        # The checksum does not cover the offset of an old message; the offsets inside a wrapper confirm it.
        super().__init__(folder, tally, opens_wrappers=True)
        self.segments: dict[int, bytes] = {}
        self._flushed_offset = flushed_offset

    def _read_epochs(self) -> None:
        super()._read_epochs()
        if not self._folder.clean_shutdown:
            # After a kill the checkpoint may be behind the log; a broker fixes it at startup.
            self._epochs, self._epoch_change = None, NEVER

    @contextmanager
    def _open_segment(self, segment: SegmentFile) -> Iterator[WholeFile]:
        """Yield the whole segment: the kept bytes must be the checked ones."""
        data = read_segment(segment)
        yield WholeFile(segment.path, data)
        self.segments[segment.base_offset] = data

    def _locate_fault(self, error: CorruptBatch, file: MappedFile | WholeFile) -> FileFault:
        return segment_fault(self._log, file.view, error, self._next_offset)

    def _on_segment_end(self, segment: SegmentFile, end: int | None, position: int) -> None:
        if end is not None:
            _check_time_index(segment, self._next_offset, position, end=end)

    def _on_end(self) -> None:
        """Raise if the log does not end where the broker recorded it at the last flush.

        After a kill, records below the high watermark may be lost if the broker had not flushed them.
        """
        end_offset, start, flushed_offset = self._next_offset, self._folder.log_start_offset, self._flushed_offset
        if end_offset < start:
            self._raise_end_fault(f"the log ends here, below its log start offset {start}: batches are missing")
        if flushed_offset is not None and end_offset < flushed_offset:
            self._raise_end_fault(
                f"the log ends here, and it had been flushed up to offset {flushed_offset}: batches are missing"
            )
        if flushed_offset is not None and end_offset > flushed_offset and self._folder.clean_shutdown:
            self._raise_end_fault(f"the log ends here, and the broker had closed it at offset {flushed_offset}")
        high_watermark = self._folder.high_watermark
        if high_watermark is not None and end_offset < high_watermark:
            if self._folder.clean_shutdown:
                self._raise_end_fault(
                    f"the log ends here, and its high watermark is {high_watermark}: batches are missing"
                )
            self._tally.gaps.append(
                Gap(self._folder.path, end_offset, high_watermark - 1, "the high watermark is above it")
            )

    def _raise_end_fault(self, reason: str) -> NoReturn:
        last = self._folder.segments[-1]
        size = len(self.segments[last.base_offset])
        raise FileFault(reason, path=last.path, position=size, offset=self._next_offset)


def _check_time_index(segment: SegmentFile, next_offset: int, size: int, *, end: int) -> None:
    """Raise if the time index of a rolled segment has an offset that the segment no longer contains.

    When a broker closes a segment, it ends the index with the greatest timestamp and its offset. Nothing else shows
    that a closed segment was truncated between two batches. But an index can be rebuilt from the log, so an impossible
    or empty one is ignored.
    """
    entry = last_row(segment.sibling(TIME_INDEX_SUFFIX), TIME_ROW)
    if entry is None:
        return
    last = segment.base_offset + TIME_ROW.unpack(entry)[1]
    if any(entry) and next_offset <= last < end:
        reason = f"the segment ends here, and its time index has offset {last}: batches are missing"
        raise FileFault(reason, path=segment.path, position=size, offset=next_offset)
