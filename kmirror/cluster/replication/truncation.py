"""Where to cut a log that diverged from its leader's: functions of two epoch histories (KIP-101, KIP-595).

The leader answers a fetch that names an epoch it ends differently with (epoch, end_offset): the
largest epoch it knows that is not above the one asked for, and where it ends there.

Messages of formats 0 and 1 have no leader epoch, so of a log that begins with them, or has nothing else,
the epoch cache knows only the end, or nothing. They count as epoch 0 (D28), and where the cache does not
know, the batches are looked at. Kafka has such followers cut to their high watermark instead. That loses
committed messages when two leaders die in a row (KIP-101), and finds nothing where a mirror's log was cut
below the high watermark.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kmirror.errors import CorruptBatch
from kmirror.log.partition_log import PartitionLog
from kmirror.records import layout

EPOCH_OF_LEGACY = 0


class EpochHistory(Protocol):
    """What the choice of a cut needs to know of the local log."""

    @property
    def log_end_offset(self) -> int: ...

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class TruncationPoint:
    offset: int
    final: bool
    """False if the leader must be asked again about an older epoch."""


def cut_for_divergence(local: EpochHistory, leader_epoch: int, leader_end_offset: int) -> TruncationPoint:
    """Return where to cut after the leader said that `leader_epoch` ends at `leader_end_offset`.

    Never above the local end. If the local log does not have the leader's epoch, the cut goes to
    the end of the largest local epoch below it, and the next fetch asks about that one (AbstractFetcherThread).
    """
    end = local.log_end_offset
    if leader_epoch < 0:
        return TruncationPoint(min(leader_end_offset, end), final=True)
    local_epoch, local_end = local.end_offset_for_epoch(leader_epoch)
    if local_epoch == -1:  # Our cache is empty: we may end where the leader says, or else have nothing in common.
        return TruncationPoint(leader_end_offset if leader_end_offset < end else 0, final=True)
    if local_epoch != leader_epoch:
        return TruncationPoint(min(local_end, end), final=False)
    return TruncationPoint(min(local_end, leader_end_offset, end), final=True)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The leader's largest epoch that is not above the one asked for, and where it ends (end exclusive)."""

    epoch: int
    end_offset: int


def divergence(log: PartitionLog, last_fetched_epoch: int, fetch_offset: int, *, foreign: bool) -> Divergence | None:
    """Return where a fetch that names `last_fetched_epoch` leaves this leader's history, None if it does not.

    `foreign` says that the log carries leader epochs of another cluster (D13). An epoch of -1 in the result: this
    log knows nothing to compare with, the fetch is out of range.
    """
    epoch, end_offset = end_of_epoch(log, last_fetched_epoch, fetch_offset)
    if foreign and last_fetched_epoch > log.latest_epoch >= 0:
        # A leader's own epoch is the last one in its log; in a mirrored log it is not there. A replica that was
        # away while the log was cut may hold a later epoch than the log, and must be told where to cut.
        epoch, end_offset = log.latest_epoch, log.log_end_offset
    if epoch == -1 or end_offset == -1:
        return Divergence(-1, -1)
    if epoch < last_fetched_epoch or end_offset < fetch_offset:
        return Divergence(epoch, end_offset)
    return None


def is_cut(cut_epoch: int, last_fetched_epoch: int) -> bool:
    """Does a fetch that names `last_fetched_epoch` (-1 for an empty log) come from a log cut to `cut_epoch`? (D30)"""
    return last_fetched_epoch <= cut_epoch


def order_to_cut(log: PartitionLog, cut_epoch: int) -> Divergence:
    """Return the divergence that has a follower drop every epoch above `cut_epoch`, -1 for all of its log (D30).

    A divergence cannot name epoch -1; epoch 0 that ends at offset 0 leaves nothing of any log, whatever its epochs.
    """
    if cut_epoch < 0:
        return Divergence(0, 0)
    epoch, end_offset = log.end_offset_for_epoch(cut_epoch)
    return Divergence(cut_epoch, log.log_end_offset) if epoch == -1 else Divergence(epoch, end_offset)


def last_epoch(log: PartitionLog) -> int:
    """Return the epoch that a fetch from the log end names, -1 for a log that holds nothing."""
    latest, end = log.latest_epoch, log.log_end_offset
    return latest if latest >= 0 or end <= log.log_start_offset else max(_epoch_below(log, end), EPOCH_OF_LEGACY)


def epoch_below(log: PartitionLog, offset: int) -> int:
    """Return the leader epoch of what lies below `offset`, -1 if nothing does."""
    if offset <= log.log_start_offset:
        return -1
    epoch = log.epochs.epoch_for_offset(offset - 1)
    return epoch if epoch >= 0 else max(_epoch_below(log, offset), EPOCH_OF_LEGACY)


def end_of_epoch(log: PartitionLog, epoch: int, fetch_offset: int) -> tuple[int, int]:
    """Return where this leader's log ends what a fetch from `fetch_offset` has seen of `epoch`; -1 and -1 if unknown.

    It is the epoch cache's answer, unless `epoch` is older than what the cache knows and the log goes on below.
    """
    first = log.epochs.first_after(-1)
    end = log.log_end_offset if first is None else first.start_offset
    if (first is not None and epoch >= first.epoch) or end <= log.log_start_offset:
        return log.end_offset_for_epoch(epoch)
    found = _epoch_below(log, min(fetch_offset, end))
    if found == -1:
        found = epoch
    if fetch_offset > end or found == epoch:
        return min(found, epoch), end
    # The two part somewhere below: where the asker's later epochs begin, which it knows; else nothing is in common.
    return (found, fetch_offset) if found < epoch else (epoch, log.log_start_offset)


def _epoch_below(log: PartitionLog, offset: int) -> int:
    """Return the epoch of the batch that holds the offset before `offset`, -1 if the log does not have that offset."""
    if offset <= log.log_start_offset:
        return -1
    try:
        batch = next(log.any_batches(offset - 1), None)
    except CorruptBatch:  # Whoever reads it will say so.
        return -1
    if batch is None or (batch.magic >= layout.MAGIC_V2 and batch.base_offset >= offset):
        return -1
    return max(batch.partition_leader_epoch, EPOCH_OF_LEGACY)
