"""Truncation of a log that diverged from its leader's, computed from two epoch histories (KIP-101, KIP-595).

If a fetch names an epoch that ends at another offset in the leader's log, the response has (epoch, end_offset): the
leader's largest epoch not above the one in the fetch, and its end offset (exclusive).

Messages of formats 0 and 1 have no leader epoch. So the epoch cache of a log that begins with them covers only the end
of the log, and is empty if there are no others. They count as epoch 0 (D28); where the cache has no entry, the batches
are read. Kafka's followers truncate to their high watermark instead in this case: that loses committed messages when
two leaders fail in a row (KIP-101), and finds no divergence below the high watermark, where a mirror's log may be cut.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kmirror.errors import CorruptBatch
from kmirror.log.partition_log import PartitionLog
from kmirror.records import layout

LEGACY_EPOCH = 0


class EpochHistory(Protocol):
    """The part of the local log that determines the truncation point."""

    @property
    def log_end_offset(self) -> int: ...

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]: ...


@dataclass(frozen=True, slots=True)
class TruncationPoint:
    """Offset to which a follower truncates its log (Kafka's OffsetTruncationState)."""

    offset: int
    final: bool
    """False if the leader must be queried again about an older epoch."""


def truncation_point(local: EpochHistory, leader_epoch: int, leader_end_offset: int) -> TruncationPoint:
    """Return the truncation point after the leader reported that `leader_epoch` ends at `leader_end_offset`.

    It is never above the local log end. If the local log does not have the leader's epoch, it is the end of the largest
    local epoch below that one, and the next fetch names this epoch (AbstractFetcherThread).
    """
    end = local.log_end_offset
    if leader_epoch < 0:
        return TruncationPoint(min(leader_end_offset, end), final=True)
    local_epoch, local_end = local.end_offset_for_epoch(leader_epoch)
    if local_epoch == -1:  # The epoch cache is empty: cut at the leader's end, or cut everything.
        return TruncationPoint(leader_end_offset if leader_end_offset < end else 0, final=True)
    if local_epoch != leader_epoch:
        return TruncationPoint(min(local_end, end), final=False)
    return TruncationPoint(min(local_end, leader_end_offset, end), final=True)


def removes_everything(log: PartitionLog, offset: int, other_start: int = 0) -> bool:
    """Return whether a cut at `offset` leaves no record, or only records below the start of the other log (D56).

    In that case the point of divergence is unknown: it is below the start of one of the logs. The remaining records
    below `other_start` were not compared, and transactions open in them have no end in the other log.
    """
    start = max(log.log_start_offset, other_start)
    return start > 0 and log.end_after_cut(offset) <= start


def loses_keys(log: PartitionLog, offset: int) -> bool:
    """Return whether a cut at `offset` may leave a key without any value (D63).

    The cut removes records whose older values, below the cut, the cleaner may have removed. If no offset below the cut
    is missing, the cleaner has removed none.
    """
    end = log.end_after_cut(offset)
    return end < min(log.cleaned_offset, log.log_end_offset) and log.has_holes(end)


def must_truncate_fully(log: PartitionLog, offset: int, other_start: int = 0) -> bool:
    """Return whether a cut at `offset` must remove the whole log: it leaves nothing (D56), or may lose keys (D63)."""
    return removes_everything(log, offset, other_start) or loses_keys(log, offset)


def is_half_truncated(log: PartitionLog) -> bool:
    """Return whether a crash interrupted the removal of the whole log: its end is below the cleaner's position."""
    return log.log_end_offset < log.cleaner_offset and log.has_holes(log.log_end_offset)


@dataclass(frozen=True, slots=True)
class Divergence:
    """The leader's largest epoch not above the requested one, and its end offset (exclusive)."""

    epoch: int
    end_offset: int


def divergence(log: PartitionLog, last_fetched_epoch: int, fetch_offset: int, *, foreign: bool) -> Divergence | None:
    """Return where the follower's log diverges from this leader's, None if the fetch shows no divergence.

    `foreign` is True if the log has leader epochs of another cluster (D13). Epoch -1 in the result means that there is
    nothing to compare with, so the fetch is out of range.
    """
    if foreign and log.latest_epoch < 0 and 0 < fetch_offset == log.log_end_offset == log.log_start_offset:
        # Retention removed all records, and a restart the epochs. Without `foreign`, a leader has its own epoch here.
        return None
    epoch, end_offset = end_of_epoch(log, last_fetched_epoch, fetch_offset)
    if foreign and last_fetched_epoch > log.latest_epoch >= 0:
        # Usually a leader's own epoch is the last one in its log, but not in a mirrored log. So a replica that was down
        # while the log was cut may hold a later epoch than the log; it must truncate to the log end.
        epoch, end_offset = log.latest_epoch, log.log_end_offset
    if epoch == -1 or end_offset == -1:
        return Divergence(-1, -1)
    if epoch < last_fetched_epoch or end_offset < fetch_offset:
        return Divergence(epoch, end_offset)
    return None


def is_cut(cut_epoch: int, last_fetched_epoch: int) -> bool:
    """Return whether a fetch with `last_fetched_epoch` (-1: empty log) comes from a log cut to `cut_epoch` (D30)."""
    return last_fetched_epoch <= cut_epoch


def demanded_divergence(log: PartitionLog, cut_epoch: int) -> Divergence:
    """Return the divergence that makes a follower remove every epoch above `cut_epoch`, or its whole log for -1 (D30).

    A divergence cannot name epoch -1; epoch 0 with end offset 0 empties every log, regardless of its epochs.
    """
    if cut_epoch < 0:
        return Divergence(0, 0)
    epoch, end_offset = log.end_offset_for_epoch(cut_epoch)
    return Divergence(cut_epoch, log.log_end_offset) if epoch == -1 else Divergence(epoch, end_offset)


def last_epoch(log: PartitionLog) -> int:
    """Return the LastFetchedEpoch of a fetch from the log end, -1 for an empty log."""
    latest, end = log.latest_epoch, log.log_end_offset
    return latest if latest >= 0 or end <= log.log_start_offset else max(_epoch_below(log, end), LEGACY_EPOCH)


def epoch_below(log: PartitionLog, offset: int) -> int:
    """Return the leader epoch of the last record below `offset`, -1 if there is none."""
    if offset <= log.log_start_offset:
        return -1
    epoch = log.epochs.epoch_for_offset(offset - 1)
    return epoch if epoch >= 0 else max(_epoch_below(log, offset), LEGACY_EPOCH)


def end_of_epoch(log: PartitionLog, epoch: int, fetch_offset: int) -> tuple[int, int]:
    """Return (epoch, end offset) for a fetch from `fetch_offset` that names `epoch`; -1 and -1 if unknown.

    The values come from the epoch cache, unless `epoch` is older than the cache and the log has messages below its
    first entry (D28).
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
    # The logs diverge somewhere below: at the start of the follower's later epochs, which it finds itself, or else at
    # the log start.
    return (found, fetch_offset) if found < epoch else (epoch, log.log_start_offset)


def _epoch_below(log: PartitionLog, offset: int) -> int:
    """Return the epoch of the batch with offset `offset` - 1, -1 if the log does not have that offset."""
    if offset <= log.log_start_offset:
        return -1
    try:
        batch = next(log.any_batches(offset - 1), None)
    except CorruptBatch:  # The follower detects the damage when it fetches the batch.
        return -1
    if batch is None or (batch.magic >= layout.MAGIC_V2 and batch.base_offset >= offset):
        return -1
    return max(batch.partition_leader_epoch, LEGACY_EPOCH)
