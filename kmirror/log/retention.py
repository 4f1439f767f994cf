"""Which of the oldest segments may go?

Segments go from the oldest on, as long as a rule holds, and only while the high watermark has passed all of
the segment: else the log start could rise above it. A rule may take every segment; the log then rolls first,
so that there is an empty one to go on with.

    log start   the next segment begins at or below it: no reader can reach this one any more (DeleteRecords)
    size        without this segment the log still has `retention.bytes`
    time        its greatest timestamp is older than `retention.ms`; without timestamps, its last append is

Size and time count only where `cleanup.policy` has `delete`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kmirror.log.config import LogConfig
from kmirror.log.segment import Segment
from kmirror.log.segment_list import SegmentList

Rule = Callable[[Segment, Segment | None, int], bool]
"""Is this segment, followed by that one, to be deleted? So many bytes are left of the log without it."""


def rules(config: LogConfig, log_start_offset: int, now_ms: int, *, is_mirrored: bool = False) -> Iterator[Rule]:
    """Yield the rules that the topic's configs make, in the order in which Kafka goes by them.

    Of a log that is mirrored the source alone decides where it begins: only what lies below goes.
    """
    yield lambda segment, following, left: following is not None and following.base_offset <= log_start_offset
    if is_mirrored:
        return
    if config.delete and config.retention_bytes >= 0:
        yield lambda segment, following, left: left >= config.retention_bytes
    if config.delete and config.retention_ms >= 0:
        yield lambda segment, following, left: segment.largest_timestamp < now_ms - config.retention_ms


def may_delete(segments: SegmentList, config: LogConfig, log_start_offset: int, now_ms: int) -> bool:
    """Return False if no rule holds of the oldest segment, as of nearly every log whenever it is looked at."""
    first = segments[0]
    if len(segments) > 1:
        if segments[1].base_offset <= log_start_offset:
            return True
    elif first.size == 0:
        return False
    if not config.delete:
        return False
    if 0 <= config.retention_bytes <= segments.size_in_bytes - first.size:
        return True
    return config.retention_ms >= 0 and first.largest_timestamp < now_ms - config.retention_ms


def deletable(segments: SegmentList, rule: Rule, high_watermark: int) -> int:
    """Return how many of the oldest segments the rule lets go; that may be all of them."""
    count, left = 0, segments.size_in_bytes
    following: Segment | None
    for segment, following in zip(segments, [*segments[1:], None], strict=True):
        left -= segment.size
        end_offset = segments.end_offset if following is None else following.base_offset
        is_empty_and_active = following is None and segment.size == 0
        if high_watermark < end_offset or is_empty_and_active or not rule(segment, following, left):
            break
        count += 1
    return count
