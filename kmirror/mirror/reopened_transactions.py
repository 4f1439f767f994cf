"""Transactions that a cut reopens: their records stay, the marker that ended them is removed (D29, D42).

Before a leader cuts a mirrored log, it reads the part to be removed and remembers the ends of transactions that begin
below the cut. The source's next records usually end them again. If the session is stopped before that, the stop writes
markers from this memory, so such a transaction neither holds back the last stable offset nor hangs. The memory ends
with the leadership; the decisions that a stop bases on it are persisted first (D43).
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.log.partition_log import PartitionLog
from kmirror.records.control import ControlType


@dataclass(frozen=True, slots=True)
class CutMarker:
    """The outcome of a transaction whose marker a cut removed."""

    producer_id: int
    commit: bool
    """True if the marker was a COMMIT and the cut removed no records: half a transaction must not commit."""
    log_end_offset: int
    """Where the cut ended the log; if the producer has a later batch at or above it, this outcome no longer holds."""


@dataclass(frozen=True, slots=True)
class StopPlan:
    """The decisions of a stop, persisted before it cuts, so that a new leader finishes it in the same way (D43)."""

    offset: int
    """Where the log is cut: everything mirrored at or above it is removed."""
    epoch: int
    """Least leader epoch that the stop itself writes; batches of earlier epochs at `offset` must still be cut."""
    commits: tuple[int, ...]
    """Producers whose reopened transaction was committed and is complete; the others get an ABORT."""


CutMarkers = dict[int, CutMarker]
"""First offset of a transaction to its outcome."""


@dataclass(frozen=True, slots=True)
class Tail:
    """Markers and transactional records in the part of a log that a cut removes."""

    ended: dict[int, CutMarker]
    """Producer id to its first marker in the tail: it ends the transaction that is open where the tail begins."""
    with_records: dict[int, None]
    """Producers with records in the tail before such a marker."""

    def reopened(self, log: PartitionLog, known: CutMarkers) -> CutMarkers:
        """Return the known outcomes of the transactions that are open in `log` after the cut."""
        found: CutMarkers = {}
        for first_offset, producer_id in log.producers.ongoing.items():
            before = known.get(first_offset)
            if producer_id in self.ended:
                found[first_offset] = self.ended[producer_id]
            elif before is not None and before.producer_id == producer_id and producer_id not in self.with_records:
                found[first_offset] = before
        return found


def read_tail(log: PartitionLog, offset: int) -> Tail:
    """Return the tail that a cut of `log` at `offset` removes."""
    tail = Tail({}, {})
    if offset >= log.log_end_offset:
        return tail
    for batch in log.any_batches(max(offset, log.log_start_offset)):
        if batch.last_offset < offset or not batch.is_transactional or batch.producer_id in tail.ended:
            continue
        record = batch.control() if batch.is_control else None
        if record is None:
            tail.with_records[batch.producer_id] = None
        elif record.type in (ControlType.COMMIT, ControlType.ABORT):
            is_complete = batch.producer_id not in tail.with_records
            tail.ended[batch.producer_id] = CutMarker(
                batch.producer_id, is_complete and record.type is ControlType.COMMIT, offset
            )
    return tail


def known_outcome(log: PartitionLog, first_offset: int, known: CutMarkers) -> CutMarker | None:
    """Return the outcome before the cut of the open transaction that begins at `first_offset`, None if unknown."""
    producer_id, outcome = log.producers.ongoing[first_offset], known.get(first_offset)
    batches = log.producers.entries[producer_id].batches
    if (
        outcome is None
        or outcome.producer_id != producer_id
        or not batches
        or batches[-1].last_offset >= outcome.log_end_offset
    ):
        return None
    return outcome


def decided_offset(log: PartitionLog, known: CutMarkers) -> int:
    """Return the last stable offset as if every open transaction with a known outcome had its marker (D42)."""
    undecided = [first for first in log.producers.ongoing if known_outcome(log, first, known) is None]
    return max(min([log.high_watermark, *undecided[:1]]), log.log_start_offset)  # DeleteRecords may pass an open one.


def make_stop_plan(log: PartitionLog, known: CutMarkers, offset: int, epoch: int) -> StopPlan:
    """Return the plan of a stop that cuts at `offset`, with the transactions that it reopens and must commit (D29).

    An open transaction that begins at or above the cut is removed: its outcome is not that of the one before it. One
    that loses a record to the cut is incomplete, and is not committed.
    """
    tail = read_tail(log, offset)
    ends = [
        outcome for first, producer_id in log.producers.ongoing.items()
        if first < offset
        and producer_id not in tail.with_records
        and (outcome := known_outcome(log, first, known)) is not None
    ]  # fmt: skip
    ends += tail.ended.values()
    return StopPlan(offset, epoch, tuple(sorted(outcome.producer_id for outcome in ends if outcome.commit)))
