"""Which of the oldest segments may go?

Segments go from the oldest on, as long as a rule holds, and only while the high watermark has passed all of
the segment: else the log start could rise above it. A rule may take every segment; the log then rolls first,
so that there is an empty one to go on with.

    log start   the next segment begins at or below it: nobody can read this one any more (DeleteRecords)
    size        without this segment the log still has `retention.bytes`
    time        its greatest timestamp is older than `retention.ms`; without timestamps, its last append is

Size and time count only where `cleanup.policy` has `delete`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kmirror.log.segment import Segment, delete_segment

if TYPE_CHECKING:
    from kmirror.log.partition_log import PartitionLog

Rule = Callable[[Segment, Segment | None], bool]
"""Is this segment, followed by that one, to be deleted?"""


def delete_old_segments(log: PartitionLog, now_ms: int) -> int:
    """Delete what the topic's configs let go; returns how many segments went."""
    deleted = _delete(log, _below_log_start(log))
    if log.config.delete:
        if log.config.retention_bytes >= 0:
            deleted += _delete(log, _beyond_size(log, log.config.retention_bytes))
        if log.config.retention_ms >= 0:
            deleted += _delete(log, _older_than(now_ms - log.config.retention_ms))
    return deleted


def _below_log_start(log: PartitionLog) -> Rule:
    return lambda segment, following: following is not None and following.base_offset <= log.log_start_offset


def _beyond_size(log: PartitionLog, retention_bytes: int) -> Rule:
    surplus = log.size_in_bytes - retention_bytes

    def rule(segment: Segment, following: Segment | None) -> bool:
        nonlocal surplus
        surplus -= segment.size
        return surplus >= 0

    return rule


def _older_than(earliest_ms: int) -> Rule:
    return lambda segment, following: segment.largest_timestamp < earliest_ms


def _delete(log: PartitionLog, rule: Rule) -> int:
    count = 0
    following: Segment | None
    for segment, following in zip(log.segments, [*log.segments[1:], None], strict=True):
        end_offset = log.log_end_offset if following is None else following.base_offset
        is_empty_and_active = following is None and segment.size == 0
        if log.high_watermark < end_offset or is_empty_and_active or not rule(segment, following):
            break
        count += 1
    if count:
        _drop_first_segments(log, count)
    return count


def _drop_first_segments(log: PartitionLog, count: int) -> None:
    """Delete the `count` oldest segments; the log start rises to what is left."""
    if count == len(log.segments):
        log.roll(log.log_end_offset)
    log.advance_log_start(log.segments[count].base_offset)
    for segment in log.segments[:count]:
        delete_segment(log.store, segment.base_offset)
    del log.segments[:count], log.bases[:count]
