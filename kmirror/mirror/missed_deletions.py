"""Detection of keys that were deleted at the source, with tombstones removed, while the mirror was away (D64).

A tombstone stays for `delete.retention.ms` after it was written. A reader of a compacted log that is further behind may
never see it, and keeps the old value. The source does not report this. Two facts are known: the time when our log was
last caught up with the source's, and whether an offset above our log end is missing there, as every record that the
cleaner removes leaves a gap. The log is caught up when the source responds with nothing new.
"""

from __future__ import annotations

from contextlib import suppress

from kmirror.errors import CorruptBatch
from kmirror.log.batch_iteration import has_holes
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.partition import UNKNOWN_SINCE_ADDED, MirrorPartition
from kmirror.records.legacy import AnyBatch, iter_any_batches

COPY_UNDER_WAY = 0x7FFF_FFFF_FFFF_FFFF
"""Value of `caught_up_ms`: the log was empty, and copying has not reached the source's end yet.

If that takes longer than tombstones stay, copying again would take just as long.
"""


def before_append(mp: MirrorPartition, log: PartitionLog) -> None:
    """Record when the log last caught up, before the records of a response are appended."""
    if log.log_end_offset <= log.log_start_offset:
        mp.caught_up_ms = COPY_UNDER_WAY
    elif mp.caught_up_ms < 0:
        written_ms = max((batch.max_timestamp for batch in log.any_batches(log.log_end_offset - 1)), default=-1)
        # In one session only records of the source are written; before it also records that a cut has removed.
        mp.caught_up_ms = max(
            0, written_ms if mp.caught_up_ms == UNKNOWN_SINCE_ADDED else max(written_ms, log.last_modified_ms)
        )


def tombstones_may_be_gone(caught_up_ms: int, now_ms: int, stay_ms: int) -> bool:
    """Return whether the source may have removed tombstones of records that came after a log caught up with it.

    `cleanup.policy` does not matter: the source may have been compacted before it changed.
    """
    return now_ms - caught_up_ms >= stay_ms


def may_have_missed(mp: MirrorPartition, log: PartitionLog, data: bytes | memoryview, now_ms: int) -> bool:
    """Return whether tombstones may be missing below the last batch of a response, whose fetch was at the log end."""
    if not tombstones_may_be_gone(mp.caught_up_ms, now_ms, log.config.delete_retention_ms):
        return False
    start = end = log.log_end_offset
    batches = list[AnyBatch]()
    with suppress(CorruptBatch):  # A response may end within a batch.
        for batch in iter_any_batches(data):
            batches.append(batch)
            end = batch.next_offset
    return has_holes(batches, start, end)


def after_append(mp: MirrorPartition, log: PartitionLog, stable_offset: int, now_ms: int) -> None:
    """Record that the log is caught up if it has all records that the source serves."""
    if log.log_end_offset >= stable_offset:
        mp.caught_up_ms, mp.is_caught_up = now_ms, True


def confirm_caught_up(mp: MirrorPartition, confirmed_ms: int) -> None:
    """Record that responses without new data have kept a log caught up until this time."""
    if mp.is_caught_up:
        mp.caught_up_ms, mp.is_caught_up = max(mp.caught_up_ms, confirmed_ms), False
