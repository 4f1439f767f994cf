"""Up to where is a log safe from a power cut?"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.log.segment_list import SegmentList
from kmirror.log.store import PartitionStore


@dataclass(frozen=True, slots=True)
class Flush:
    """A job for the disk: make segments safe as they are when it runs."""

    store: PartitionStore
    base_offsets: list[int]

    def run(self) -> None:
        for base_offset in self.base_offsets:
            self.store.flush(base_offset)


class Flushing:
    """The recovery point of one log: all below it is flushed, or no longer part of the log."""

    __slots__ = ("_under_way", "is_deferred", "last_flush_ms", "recovery_point")

    def __init__(self, recovery_point: int, now_ms: int) -> None:
        self.recovery_point = recovery_point
        self.last_flush_ms = now_ms
        self.is_deferred = False  # If True, a roll does not flush: the owner of the log orders that.
        self._under_way: int | None = None  # Up to where the job under way makes the log safe.

    def begin(self, segments: SegmentList, end_offset: int) -> Flush | None:
        """Return the job that makes safe what lies below `end_offset`, the log's end or where a segment begins.

        None if it is safe, or if there is such a job already.
        """
        if self.recovery_point >= end_offset or self._under_way is not None:
            return None
        self._under_way = end_offset
        reaching = segments.reaching(self.recovery_point)
        return Flush(segments.store, [s.base_offset for s in reaching if s.base_offset < end_offset])

    def finish(self, now_ms: int, *, done: bool) -> None:
        """Take in that the job came to its end; what was cut while it was under way does not count."""
        if done and self._under_way is not None:
            self.raise_to(self._under_way, now_ms)
        self._under_way = None

    def raise_to(self, offset: int, now_ms: int) -> None:
        """Take in that all below `offset` is safe."""
        self.recovery_point = max(self.recovery_point, offset)
        self.last_flush_ms = now_ms

    def cut_to(self, offset: int) -> None:
        """Nothing from `offset` on is part of the log any more; what comes there is not safe yet."""
        self.recovery_point = min(self.recovery_point, offset)
        if self._under_way is not None:
            self._under_way = min(self._under_way, offset)
