"""The cleanable part of a compacted log, and whether it justifies a run of the cleaner.

Follows LogCleanerManager and LogToClean of Kafka 4.3.1.
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.log.config import LogConfig
from kmirror.log.segment_list import SegmentList


class Cleanable(NamedTuple):
    """Offset range that the next run would process, and its size in bytes of segments."""

    log_start_offset: int
    first_dirty_offset: int
    first_uncleanable_offset: int
    clean_bytes: int
    dirty_bytes: int
    is_overdue: bool
    """True if a dirty record is older than `max.compaction.lag.ms`."""
    is_mirrored: bool = False
    """True if another cluster feeds the log: its cleaner set the delete horizons of the dirty batches (D73)."""

    @property
    def dirty_ratio(self) -> float:
        """Dirty share of the bytes, 0 if there are none."""
        total = self.clean_bytes + self.dirty_bytes
        return self.dirty_bytes / total if total else 0.0

    def is_dirty_enough(self, min_ratio: float) -> bool:
        """Return whether the log has dirty bytes that are overdue, or whose share is above `min_ratio`.

        `min_ratio` is the config `min.cleanable.dirty.ratio`.
        """
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
    """Return the range that a run starting at the end of the last run (None if there was none) would clean."""
    dirty = log_start_offset if last_end_offset is None else last_end_offset
    if not log_start_offset <= dirty <= segments.end_offset:
        dirty = log_start_offset  # The log was truncated or deleted below the checkpoint.
    bounds = [last_stable_offset, segments.active.base_offset]
    sealed = [segment for segment in segments.reaching(dirty) if segment is not segments.active]
    if config.min_compaction_lag_ms > 0:
        earliest = now_ms - config.min_compaction_lag_ms
        too_young = (segment.base_offset for segment in sealed if segment.largest_timestamp > earliest)
        bounds.append(next(too_young, bounds[-1]))
    bound = max(dirty, min(bounds))
    # Only whole segments are cleaned: round down to the base offset of the segment that contains the bound.
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
