"""Rules for cuts of mirrored logs: where to cut, which replicas still have to, and the epoch after a stop.

Pure functions. The engine and the explorer (`kmirror explore`) share them, so that the explorer proves the rules that
run.

Words
- A *cut epoch* E is the last epoch that a cut leaves in the log: every record of a later epoch is removed. FROM_SCRATCH
  (-1) is a cut of everything.
- `Uncut` lists the replicas that have not confirmed a cut, each with the least cut epoch of all cuts it missed (D30).
  It is persisted with the state, in force in every state, and carried over from session to session.
- The row of SESSION is not a replica. It says that the present session has touched the log (cut it, or fed it from the
  source), so that the leader that finishes a stop knows whether there is anything to undo (D33).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from kmirror.log.epochs import UNDEFINED_EPOCH, UNDEFINED_OFFSET, EndOffset, LeaderEpochCache
from kmirror.records.legacy import AnyBatch

SOURCE_EPOCH_MAX = 0x7FFFFFFF - 1_000_000
"""The highest leader epoch of a source that is mirrored: local epochs need room above it. Elections never get there."""
FROM_SCRATCH = -1
SESSION = -1
"""Key of the row for the session itself, which is not a replica."""

NOTHING_KEPT = EndOffset(UNDEFINED_EPOCH, UNDEFINED_OFFSET)

Uncut = Mapping[int, int]
"""List of replicas that have not confirmed a cut: replica id to cut epoch, ascending by replica id."""
NO_UNCUT: Uncut = {}


class CutLog(Protocol):
    """The part of a log on which the choice of a cut depends."""

    @property
    def epochs(self) -> LeaderEpochCache: ...

    @property
    def log_end_offset(self) -> int: ...


def cut_offset(log: CutLog, cut_epoch: int) -> int:
    """Return the offset at which a cut to `cut_epoch` ends the log; the log end if it removes nothing (D11).

    This is the offset where the first later epoch begins, 0 for FROM_SCRATCH.
    """
    if cut_epoch < 0:
        return 0
    entry = log.epochs.first_after(cut_epoch)
    return log.log_end_offset if entry is None else min(entry.start_offset, log.log_end_offset)


def kept_after_cut(log: CutLog, cut_epoch: int) -> EndOffset:
    """Return the last epoch that a cut to `cut_epoch` leaves, and where it ends; NOTHING_KEPT if that is not known."""
    kept = log.epochs.end_offset_for(cut_epoch, log.log_end_offset)
    return kept if cut_epoch >= 0 and kept.end_offset == cut_offset(log, cut_epoch) else NOTHING_KEPT


def has_kept_records(kept: EndOffset, other_end: EndOffset, other_start: int = 0) -> bool:
    """Return whether another log has the records that a cut leaves; `other_end` is its end offset for the kept epoch.

    A log that begins above an epoch that it never had returns its own log start as the end of that epoch.
    """
    return other_end.epoch == kept.epoch and other_start < kept.end_offset <= other_end.end_offset


def are_markers(batches: Iterable[AnyBatch], start: int, end: int) -> bool:
    """Return whether every offset in [start, end) is in a control batch; an offset that was compacted away is not."""
    expected = start
    for batch in batches:
        if batch.next_offset <= expected:
            continue
        if batch.base_offset > expected or not batch.is_control:
            return False
        expected = batch.next_offset
    return expected >= end


def with_all_replicas(uncut: Uncut, assigned: Iterable[int], cut_epoch: int) -> Uncut:
    """Return the list after the decision to cut to `cut_epoch`: all assigned replicas, also the leader, and SESSION.

    A replica that missed an earlier, deeper cut still has to make that one: the least epoch wins.
    """
    result = dict(uncut)
    for replica in (SESSION, *assigned):
        result[replica] = min(result.get(replica, cut_epoch), cut_epoch)
    return dict(sorted(result.items()))


def without_replicas(uncut: Uncut, confirmed: Iterable[int]) -> Uncut:
    """Return the list without the replicas that have confirmed."""
    confirmed_set = dict.fromkeys(confirmed)
    return {replica: epoch for replica, epoch in uncut.items() if replica not in confirmed_set}


def merge_uncut(one: Uncut, other: Uncut) -> Uncut:
    """Return both lists as one; the least epoch wins."""
    merged = dict(one)
    for replica, epoch in other.items():
        merged[replica] = min(merged.get(replica, epoch), epoch)
    return dict(sorted(merged.items()))


def epoch_after_stop(leader_epoch: int, last_mirrored_epoch: int) -> int:
    """Return the leader epoch to bump to at the end of a stop that cut or mirrored anything (D36).

    `leader_epoch` is the present one, or the source's if that is known to be higher. The result is above it even if
    that is above the last mirrored epoch already: an epoch that the cut removed must not be written a second time.
    """
    return max(leader_epoch, last_mirrored_epoch) + 1
