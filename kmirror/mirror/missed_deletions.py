"""Has a key been deleted at the source, and its tombstone removed, while the mirror was away (D64)?

A tombstone is there for `delete.retention.ms` after it was written. Who reads a compacted log and is further behind may
never be given it, and keeps the value that it has. The source does not say so. What can be known: when our log was in
step with the source's, and whether an offset above our log end is in no record there, as every record that the cleaner
removes leaves its offset. A source that answers with nothing new says that the log is in step.
"""

from __future__ import annotations

from contextlib import suppress

from kmirror.errors import CorruptBatch
from kmirror.log.partition_log import PartitionLog
from kmirror.log.walk import has_holes
from kmirror.mirror.partition import ADDED, MirrorPartition
from kmirror.records.legacy import AnyBatch, iter_any_batches

COPYING = 0x7FFF_FFFF_FFFF_FFFF
"""Of `in_step_ms`: the log was empty, and what is copied into it has not reached the source's end yet.

If that takes longer than tombstones stay, to begin again would take as long.
"""


def begin_answer(mp: MirrorPartition, log: PartitionLog) -> None:
    """Learn when the log was in step, before the records of an answer are appended."""
    if log.log_end_offset <= log.log_start_offset:
        mp.in_step_ms = COPYING
    elif mp.in_step_ms < 0:
        written_ms = max((batch.max_timestamp for batch in log.any_batches(log.log_end_offset - 1)), default=-1)
        # In one session only what came from the source was written; before it also what a cut has removed.
        mp.in_step_ms = max(0, written_ms if mp.in_step_ms == ADDED else max(written_ms, log.written_ms))


def tombstones_may_be_gone(in_step_ms: int, now_ms: int, stay_ms: int) -> bool:
    """Return whether the source may have removed tombstones of records that came after a log was in step with it.

    `cleanup.policy` is not asked: the cleaner may have been at the source before it changed.
    """
    return now_ms - in_step_ms >= stay_ms


def may_have_missed(mp: MirrorPartition, log: PartitionLog, data: bytes | memoryview, now_ms: int) -> bool:
    """Return whether tombstones may have gone unseen below the last batch of an answer for the log end."""
    if not tombstones_may_be_gone(mp.in_step_ms, now_ms, log.config.delete_retention_ms):
        return False
    start = end = log.log_end_offset
    whole = list[AnyBatch]()
    with suppress(CorruptBatch):  # An answer may end within a batch.
        for batch in iter_any_batches(data):
            whole.append(batch)
            end = batch.next_offset
    return has_holes(whole, start, end)


def end_answer(mp: MirrorPartition, log: PartitionLog, stable_offset: int, now_ms: int) -> None:
    """Note that the log is in step if it has all that the source gives."""
    if log.log_end_offset >= stable_offset:
        mp.in_step_ms, mp.is_in_step = now_ms, True


def end_quiet(mp: MirrorPartition, confirmed_ms: int) -> None:
    """Note that answers which had nothing new of a log that was in step have kept it so up to this time."""
    if mp.is_in_step:
        mp.in_step_ms, mp.is_in_step = max(mp.in_step_ms, confirmed_ms), False
