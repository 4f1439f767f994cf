"""Transactions that a cut reopens: their records stay, the marker that ended them goes (D29, D42).

Whoever cuts a mirrored log looks at what it is about to take, and remembers how the transactions ended that reach
below the cut. The source's next records usually end them anew. If the session is stopped before they do, what is
remembered says how: such a transaction is decided, so it neither holds back the last stable offset nor hangs.
What is remembered dies with the leadership; what a stop decides by it is persisted first (D43).
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.log.partition_log import PartitionLog
from kmirror.records.control import ControlType


@dataclass(frozen=True, slots=True)
class CutMarker:
    """How a transaction ended whose marker was cut."""

    producer_id: int
    commit: bool
    """What its marker said; False where the cut also took records of it, for half of a transaction is none."""
    log_end_offset: int
    """Where the cut ended the log: a record of the transaction at or above it came later, and tells otherwise."""


@dataclass(frozen=True, slots=True)
class StopPlan:
    """What a stop has decided, persisted before it cuts: whoever finishes it does the same (D43)."""

    offset: int
    """Where the cut ends what was mirrored."""
    epoch: int
    """Least leader epoch of what the stop itself writes; an earlier one at `offset` is still to be cut."""
    commits: tuple[int, ...]
    """Producers whose open transaction the cut reopens, whole and committed; every other one is aborted."""


CutMarkers = dict[int, CutMarker]
"""First offset of the transaction to how it ended."""


@dataclass(frozen=True, slots=True)
class Tail:
    """What a cut is about to take of transactions."""

    ended: dict[int, CutMarker]
    """Producer id to its first marker in the tail: it ends the transaction that is open where the tail begins."""
    with_records: dict[int, None]
    """Producers with records in the tail before such a marker."""

    def reopened(self, log: PartitionLog, known: CutMarkers) -> CutMarkers:
        """Return what is known of the transactions that are open in `log`, now that it is cut."""
        found: CutMarkers = {}
        for first_offset, producer_id in log.producers.ongoing.items():
            before = known.get(first_offset)
            if producer_id in self.ended:
                found[first_offset] = self.ended[producer_id]
            elif before is not None and before.producer_id == producer_id and producer_id not in self.with_records:
                found[first_offset] = before
        return found


def tail_of(log: PartitionLog, offset: int) -> Tail:
    """Return what a cut of `log` at `offset` takes."""
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
            whole = batch.producer_id not in tail.with_records
            tail.ended[batch.producer_id] = CutMarker(
                batch.producer_id, whole and record.type is ControlType.COMMIT, offset
            )
    return tail


def ending_of(log: PartitionLog, first_offset: int, known: CutMarkers) -> CutMarker | None:
    """Return how the open transaction that begins at `first_offset` ended before the cut, None if that is not known."""
    producer_id, own = log.producers.ongoing[first_offset], known.get(first_offset)
    batches = log.producers.entries[producer_id].batches
    if own is None or own.producer_id != producer_id or not batches or batches[-1].last_offset >= own.log_end_offset:
        return None
    return own


def decided_offset(log: PartitionLog, known: CutMarkers) -> int:
    """Return the last stable offset, were the open transactions whose end is known decided (D42)."""
    undecided = [first for first in log.producers.ongoing if ending_of(log, first, known) is None]
    return min([log.high_watermark, *undecided[:1]])


def plan_of(log: PartitionLog, known: CutMarkers, offset: int, epoch: int) -> StopPlan:
    """Return the plan of a stop that cuts at `offset`: which of the transactions open below it were committed (D29)?"""
    ends = [own for first in log.producers.ongoing if (own := ending_of(log, first, known)) is not None]
    ends += tail_of(log, offset).ended.values()
    return StopPlan(offset, epoch, tuple(sorted(own.producer_id for own in ends if own.commit)))
