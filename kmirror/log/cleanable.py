"""What of a compacted log would be cleaned now, and is that worth a run?

Facts as LogCleanerManager and LogToClean of Kafka 4.3.1 have them.
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.log.config import LogConfig
from kmirror.log.segment_list import SegmentList


class Cleanable(NamedTuple):
    """Which offsets the next run would deal with, and how many bytes of segments that is."""

    log_start_offset: int
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool
    """Is a dirty record older than `max.compaction.lag.ms`?"""
    is_mirrored: bool = False
    """Another cluster feeds the log: the delete horizons of dirty batches are those of its cleaner (D73)."""

    @property
    def dirty_ratio(self) -> float:
        """Return which share of the bytes is dirty, 0 of none."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_dirty_enough(self, min_ratio: float) -> bool:
        """Is the dirty share above `min.cleanable.dirty.ratio`, or must it be cleaned at any share?"""
        return self.dirty_bytes > 0 and (self.is_overdue or self.dirty_ratio > min_ratio)


def cleanable(
    segments: SegmentList,
    config: LogConfig,
    last_end_offset: int | None,
    *,
    log_start_offset: int,
    last_stable_offset: int,
    now_ms: int,
    is_mirrored: bool = False,
) -> Cleanable:
    """Return what a run that begins where the last one ended (None for the first) would clean."""
    dirty = log_start_offset if last_end_offset is None else last_end_offset
    if not log_start_offset <= dirty <= segments.end_offset:
        dirty = log_start_offset  # The log was cut or deleted under the checkpoint.
    bounds = [last_stable_offset, segments.active.base_offset]
    sealed = [segment for segment in segments.reaching(dirty) if segment is not segments.active]
    if config.min_compaction_lag_ms > 0:
        earliest = now_ms - config.min_compaction_lag_ms
        too_young = (segment.base_offset for segment in sealed if segment.largest_timestamp > earliest)
        bounds.append(next(too_young, bounds[-1]))
    bound = max(dirty, min(bounds))
    # Only whole segments are cleaned, so the bound is where the one that holds it begins.
    uncleanable = segments.reaching(bound)[0].base_offset
    until_ms = now_ms - config.max_compaction_lag_ms
    return Cleanable(
        log_start_offset,
        dirty,
        uncleanable,
        sum(segment.size for segment in segments if segment.base_offset < dirty),
        sum(segment.size for segment in segments.reaching(dirty) if segment.base_offset < uncleanable),
        any(0 < segment.first_timestamp < until_ms for segment in sealed),
        is_mirrored,
    )
