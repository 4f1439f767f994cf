"""Recovery point of a log and the jobs that flush it to disk."""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.log.segment_list import SegmentList
from kmirror.log.store import PartitionStore


@dataclass(frozen=True, slots=True)
class Flush:
    """Disk job that flushes segments in the state they have when it runs."""

    store: PartitionStore
    base_offsets: list[int]

    def run(self) -> None:
        for base_offset in self.base_offsets:
            self.store.flush(base_offset)


class Flushing:
    """Recovery point of one log: everything below it is flushed or no longer part of the log."""

    __slots__ = ("_running_end_offset", "is_deferred", "last_flush_ms", "recovery_point")

    def __init__(self, recovery_point: int, now_ms: int) -> None:
        self.recovery_point = recovery_point
        self.last_flush_ms = now_ms
        self.is_deferred = False  # If True, rolling a segment does not flush; the owner of the log schedules it.
        self._running_end_offset: int | None = None  # End offset (exclusive) of the running flush job.

    def begin(self, segments: SegmentList, end_offset: int) -> Flush | None:
        """Return the job that flushes everything below `end_offset`, the log end or a segment's base offset.

        None if that is flushed already or a job is running.
        """
        if self.recovery_point >= end_offset or self._running_end_offset is not None:
            return None
        self._running_end_offset = end_offset
        reaching = segments.reaching(self.recovery_point)
        return Flush(segments.store, [s.base_offset for s in reaching if s.base_offset < end_offset])

    def finish(self, now_ms: int, *, done: bool) -> None:
        """Record the end of the job; data truncated while it ran does not count as flushed."""
        if done and self._running_end_offset is not None:
            self.raise_to(self._running_end_offset, now_ms)
        self._running_end_offset = None

    def raise_to(self, offset: int, now_ms: int) -> None:
        """Record that everything below `offset` is flushed."""
        self.recovery_point = max(self.recovery_point, offset)
        self.last_flush_ms = now_ms

    def cut_to(self, offset: int) -> None:
        """Lower the recovery point after a truncation to `offset`; new data there is not flushed yet."""
        self.recovery_point = min(self.recovery_point, offset)
        if self._running_end_offset is not None:
            self._running_end_offset = min(self._running_end_offset, offset)
