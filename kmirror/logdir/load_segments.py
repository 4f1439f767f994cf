"""Are the segments of a partition folder what a broker wrote?

Loading is the walk of `verify` over the log alone, ended by the first fault. The indexes and snapshots beside the log
are not read, since nothing of them is loaded; but their names show whether a segment is missing, and three things
whether the log ends where it should: the time index of a segment that was closed, the log start offset and the recovery
point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, NoReturn

from kmirror.errors import CorruptBatch
from kmirror.log.index import TIME_ROW
from kmirror.log.state_files import TIME_INDEX_SUFFIX
from kmirror.logdir.faults import FileFault, Gap, Tally
from kmirror.logdir.mapped import Mapped, WholeFile
from kmirror.logdir.partition import PartitionFolder
from kmirror.logdir.segments import SegmentFile, read_segment, segment_fault
from kmirror.logdir.verify.indexes import NEVER, last_row
from kmirror.logdir.verify.log_walk import LogWalk


class LoadedSegments(NamedTuple):
    """The bytes of a log by the base offsets of its segments, all of them checked; `end_offset` is exclusive."""

    segments: dict[int, bytes]
    end_offset: int
    batches: int
    gaps: list[Gap]


def load_segments(
    folder: PartitionFolder, flushed_offset: int | None, on_read: Callable[[int], None]
) -> LoadedSegments:
    """Return the log in `folder`; `flushed_offset` is what its line of the recovery points says, None for no line.

    `on_read` gets how many bytes have been walked since its last call. Raises `FileFault` at the first fault and
    `Unreadable` for a file that the system refuses.
    """
    if not folder.segments:
        # A broker begins an empty segment at the log start offset.
        folder = folder._replace(segments=[SegmentFile(folder.log_start_offset, folder.path, 0)])
    tally = Tally(_stop, on_read)
    load = _Load(folder, tally, flushed_offset)
    end_offset = load.run()
    return LoadedSegments(load.segments, end_offset, tally.batches, tally.gaps)


def _stop(fault: FileFault) -> NoReturn:
    raise fault from None


class _Load(LogWalk):
    """A walk that keeps the bytes which it has checked."""

    def __init__(self, folder: PartitionFolder, tally: Tally, flushed_offset: int | None) -> None:
        # The offset of an old message is outside its checksum; for a wrapper those inside are a witness.
        super().__init__(folder, tally, opens_wrappers=True)
        self.segments: dict[int, bytes] = {}
        self._flushed_offset = flushed_offset

    def _read_epochs(self) -> None:
        super()._read_epochs()
        if not self._folder.clean_shutdown:
            # After a kill the checkpoint may lag behind the log, and a broker mends it when it starts.
            self._epochs, self._epoch_change = None, NEVER

    @contextmanager
    def _opened(self, segment: SegmentFile) -> Iterator[WholeFile]:
        """Yield the whole segment: what has been checked has to be what is kept."""
        data = read_segment(segment)
        yield WholeFile(segment.path, data)
        self.segments[segment.base_offset] = data

    def _placed(self, error: CorruptBatch, file: Mapped | WholeFile) -> FileFault:
        return segment_fault(self._log, file.view, error, self._next_offset)

    def _on_segment_end(self, segment: SegmentFile, end: int | None, position: int) -> None:
        if end is not None:
            _check_time_index(segment, self._next_offset, position, end=end)

    def _on_end(self) -> None:
        """Raise if the log ends elsewhere than the broker recorded when it last flushed it.

        After a kill it may have lost what lay below its high watermark: what a broker had not flushed yet.
        """
        ends, start, flushed_offset = self._next_offset, self._folder.log_start_offset, self._flushed_offset
        if ends < start:
            self._wrong_end(f"the log ends here, below its log start offset {start}: batches are missing")
        if flushed_offset is not None and ends < flushed_offset:
            self._wrong_end(
                f"the log ends here, and it had been flushed up to offset {flushed_offset}: batches are missing"
            )
        if flushed_offset is not None and ends > flushed_offset and self._folder.clean_shutdown:
            self._wrong_end(f"the log ends here, and the broker had closed it at offset {flushed_offset}")
        high_watermark = self._folder.high_watermark
        if high_watermark is not None and ends < high_watermark:
            if self._folder.clean_shutdown:
                self._wrong_end(f"the log ends here, and its high watermark is {high_watermark}: batches are missing")
            self._tally.gaps.append(Gap(self._folder.path, ends, high_watermark - 1, "the high watermark is above it"))

    def _wrong_end(self, reason: str) -> NoReturn:
        last = self._folder.segments[-1]
        size = len(self.segments[last.base_offset])
        raise FileFault(reason, path=last.path, position=size, offset=self._next_offset)


def _check_time_index(segment: SegmentFile, next_offset: int, size: int, *, end: int) -> None:
    """Raise if the time index of a rolled segment knows of an offset that the segment no longer holds.

    A broker ends the index of a segment it closes with the greatest timestamp and the offset that has it.
    That is the only witness against a closed segment that was cut between two batches. But an index can be
    rebuilt from the log, so one that cannot be true, or was never filled, says nothing.
    """
    entry = last_row(segment.beside(TIME_INDEX_SUFFIX), TIME_ROW)
    if entry is None:
        return
    last = segment.base_offset + TIME_ROW.unpack(entry)[1]
    if any(entry) and next_offset <= last < end:
        reason = f"the segment ends here, and its time index has offset {last}: batches are missing"
        raise FileFault(reason, path=segment.path, position=size, offset=next_offset)
