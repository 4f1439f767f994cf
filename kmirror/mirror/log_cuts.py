"""Cuts of a mirrored log by its leader: the cut is traced, and the ends of transactions that it reopens are kept."""

from __future__ import annotations

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.truncation import loses_keys, must_truncate_fully, removes_everything
from kmirror.kernel.clock import Instant
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.context import MirrorContext
from kmirror.mirror.cut_rules import FROM_SCRATCH, cut_offset, with_all_replicas
from kmirror.mirror.facts import LogCut
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.reopened_transactions import read_tail
from kmirror.mirror.states import MirrorState
from kmirror.mirror.uncut_replicas import apply_uncut

_WITHOUT_SOURCE = (MirrorState.STOPPING, MirrorState.STOPPED, MirrorState.FAILED)
"""States in which the source adds nothing more: the log continues where a cut ends it."""


def cut(
    context: MirrorContext, now: Instant, mp: MirrorPartition, partition: Partition, offset: int, reason: str
) -> None:
    """Cut the log that this broker leads at `offset`, and keep the ends of the transactions that this reopens.

    `reason` goes into the trace.
    """
    offset = partition.log.end_after_cut(offset)  # The source's batches may differ: this may lie inside one of ours.
    tail = read_tail(partition.log, offset)
    _trace_cut(context, mp, partition.log, offset, reason)
    context.replicas.appends.truncate(now, partition, offset)
    mp.cut_markers = tail.reopened(partition.log, mp.cut_markers)


def restart(
    context: MirrorContext, now: Instant, mp: MirrorPartition, partition: Partition, offset: int, reason: str
) -> None:
    """Remove everything from the log that this broker leads; it then begins at `offset` (truncateFullyAndStartAt)."""
    log = partition.log
    _trace_cut(context, mp, log, log.log_start_offset, reason)
    context.replicas.appends.truncate_fully(now, partition, offset)
    mp.cut_markers = {}


def effective_cut_epoch(log: PartitionLog, epoch: int) -> int:
    """Return the cut epoch for a log that must be cut to `epoch`: FROM_SCRATCH if it must restart (D56, D63)."""
    return FROM_SCRATCH if must_truncate_fully(log, cut_offset(log, epoch)) else epoch


def cut_at_divergence(
    context: MirrorContext, now: Instant, mp: MirrorPartition, partition: Partition, offset: int, reason: str
) -> None:
    """Cut at `offset`, where the source's log diverges from the one that this broker leads.

    If none of the remaining records are in the source's log, the log restarts: at 0 and then, as that is out of range,
    where the source's begins (D56).
    """
    if removes_everything(partition.log, offset, mp.source_log_start):
        restart(context, now, mp, partition, 0, f"{reason}, with nothing in common from both log starts on")
    else:
        cut(context, now, mp, partition, offset, reason)


def cut_if_listed(context: MirrorContext, now: Instant, mp: MirrorPartition, *, missed: bool) -> None:
    """Cut this leader's log if it is on the list of uncut replicas, and withhold it until it is off the list (D30).

    `missed` says that nothing has been read from its log since this broker leads; else this broker has decided the cut
    itself.
    """
    partition = context.replicas.partitions.find_led(mp.tp)
    epoch = mp.uncut.get(context.broker.node_id)
    if partition is None or epoch is None:
        return
    if epoch >= 0 and mp.state not in _WITHOUT_SOURCE and loses_keys(partition.log, cut_offset(partition.log, epoch)):
        epoch = FROM_SCRATCH  # The followers make the same cut; it is persisted before this log is served (D63).
        apply_uncut(mp, partition, with_all_replicas(mp.uncut, partition.image.replicas, epoch))
    mp.is_withheld = True
    reason = f"a cut to epoch {epoch} {'that this replica missed' if missed else 'of every replica'}"
    if epoch < 0:
        restart(context, now, mp, partition, 0, reason)
    else:
        cut_log = cut if mp.state in _WITHOUT_SOURCE else cut_at_divergence
        cut_log(context, now, mp, partition, cut_offset(partition.log, epoch), reason)
    partition.on_log_cut(now)


def _trace_cut(context: MirrorContext, mp: MirrorPartition, log: PartitionLog, offset: int, reason: str) -> None:
    """Trace the range that a cut is about to remove, if any."""
    end = log.log_end_offset
    if offset < end:
        fact = LogCut(mp.tp, offset, end, reason, log.segments_from(offset))
        context.note(mp, f"cut at {offset} (was {end}): {reason}", fact)
