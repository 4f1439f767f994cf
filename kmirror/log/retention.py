"""Retention: which of the oldest segments may be deleted.

Segments are deleted from the oldest on while a rule applies and the high watermark has passed the whole segment;
otherwise the log start could rise above the high watermark. If a rule applies to all segments, the log rolls first, so
that an empty active segment remains.

    log start   the next segment begins at or below it: no consumer can read this one any more (DeleteRecords)
    size        the log still has `retention.bytes` without this segment
    time        its greatest timestamp is older than `retention.ms`, or its last append if no record has a timestamp

Size and time apply only if `cleanup.policy` contains `delete`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kmirror.log.config import LogConfig
from kmirror.log.segment import Segment
from kmirror.log.segment_list import SegmentList

Rule = Callable[[Segment, Segment | None, int], bool]
"""Returns whether to delete a segment; arguments: the segment, the next one, and the log's bytes without it."""


def rules(config: LogConfig, log_start_offset: int, now_ms: int, *, is_mirrored: bool = False) -> Iterator[Rule]:
    """Yield the rules of the topic's configs, in Kafka's order.

    For a mirrored log the source alone decides on its start: only segments below the log start are deleted.
    """
    yield lambda segment, following, left: following is not None and following.base_offset <= log_start_offset
    if is_mirrored:
        return
    if config.delete and config.retention_bytes >= 0:
        yield lambda segment, following, left: left >= config.retention_bytes
    if config.delete and config.retention_ms >= 0:
        yield lambda segment, following, left: segment.largest_timestamp < now_ms - config.retention_ms


def may_delete(segments: SegmentList, config: LogConfig, log_start_offset: int, now_ms: int) -> bool:
    """Return False if no rule applies to the oldest segment, the usual case."""
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
    """Return the number of oldest segments that the rule deletes, possibly all."""
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
