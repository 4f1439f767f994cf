"""Records of a log that a `read_committed` consumer sees.

These are the records below the last stable offset that belong to no aborted transaction. Both are computed by one pass
over the batches in log order, which keeps only the open and the aborted transactions.

Rule 1: a transaction is open from its producer's first transactional batch to the next marker of that producer. A
MIRROR_PID_RESET (D15) ends every transaction and aborts none. Rule 2: at the offset of a producer snapshot, the
snapshot defines the open transactions. The log may begin inside a transaction, and the cleaner eventually removes
markers but keeps the records that they committed. Rule 3: the cleaner never passes an undecided transaction. One that
began below its checkpoint and has no end is committed.

`producers` tracks the same state while a log is appended to; `tests/property/log/test_committed.py` compares both.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar

from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType
from kmirror.records.legacy import AnyBatch

_NEVER: Final = 1 << 63  # Above every offset.
_NOT_PLAIN: Final = layout.CONTROL_FLAG | layout.TRANSACTIONAL_FLAG

Ranges = list[tuple[int, int]]
"""First and last offset of each transaction of one producer, ascending; the last offset is the marker's."""

OpenAt = Callable[[int], Mapping[int, int] | None]
"""Returns the transactions open in the snapshot of an offset, as {producer id: first offset}; None if unreadable."""


AnyBatchT = TypeVar("AnyBatchT", bound=AnyBatch)


def with_aborted(batches: Iterable[AnyBatchT], aborted: Iterable[tuple[int, int]]) -> Iterator[tuple[AnyBatchT, bool]]:
    """Yield each batch of a fetch response, and whether it is data of an aborted transaction.

    `aborted` holds pairs (producer id, first offset) from the response: a transaction is aborted from that offset to
    its ABORT marker.
    """
    upcoming = sorted(aborted, key=lambda row: row[1], reverse=True)
    hidden: dict[int, None] = {}
    for batch in batches:
        while upcoming and upcoming[-1][1] <= batch.last_offset:
            hidden[upcoming.pop()[0]] = None
        if not hidden:  # The usual case: no aborted transaction is open, so no marker matters.
            yield batch, False
            continue
        if batch.is_control and (record := batch.control()) is not None and record.type is ControlType.ABORT:
            hidden.pop(batch.producer_id, None)
        yield batch, batch.is_transactional and not batch.is_control and batch.producer_id in hidden


@dataclass(frozen=True, slots=True)
class Committed:
    """Data hidden from committed readers: aborted transactions per producer, and everything from an offset on."""

    aborted: Mapping[int, Ranges] = field(default_factory=dict)
    first_undecided_offset: int | None = None

    def hides(self, batch: AnyBatch) -> bool:
        """Return whether committed readers do not see this data batch."""
        if self.first_undecided_offset is not None and batch.last_offset >= self.first_undecided_offset:
            return True
        if not batch.is_transactional:
            return False
        ranges = self.aborted.get(batch.producer_id)
        if ranges is None:
            return False
        offset = batch.base_offset
        number = bisect_right(ranges, (offset, _NEVER))
        return number > 0 and offset <= ranges[number - 1][1]

    def between(self, first: int, end: int | None) -> Committed:
        """Return the part that overlaps the offsets [first, end)."""
        kept: dict[int, Ranges] = {}
        for producer_id, ranges in self.aborted.items():
            overlapping = [pair for pair in ranges if pair[1] >= first and (end is None or pair[0] < end)]
            if overlapping:
                kept[producer_id] = overlapping
        return Committed(kept, self.first_undecided_offset)


class CommittedWalk:
    """Finds aborted and open transactions: call `add` for every batch in log order, then `finish`.

    `snapshots` are the offsets of the producer snapshots from the log's first batch on, ascending. `cleaned_offset` is
    the cleaner's checkpoint.
    """

    __slots__ = (
        "_aborted",
        "_cleaned_offset",
        "_next_snapshot",
        "_open",
        "_open_above",
        "_open_at",
        "_pending_snapshots",
    )

    def __init__(
        self, snapshots: Sequence[int] = (), open_at: OpenAt | None = None, *, cleaned_offset: int = 0
    ) -> None:
        assert open_at is not None or not snapshots, "snapshots come with a function that reads them"
        self._open_at = open_at
        self._pending_snapshots = list(reversed(snapshots))
        self._next_snapshot = snapshots[0] if snapshots else _NEVER
        self._cleaned_offset = cleaned_offset
        self._open: dict[int, int] = {}  # Producer id -> first offset.
        # First offset at or above the cleaner's checkpoint of transactions that were already open below it.
        self._open_above: dict[int, int] = {}
        self._aborted: dict[int, Ranges] = {}

    def add(self, batch: AnyBatch) -> None:
        """Process the next batch; raises `CorruptBatch` for a malformed control record."""
        if type(batch) is not Batch or not (attributes := batch.attributes & _NOT_PLAIN):
            return
        offset = batch.base_offset
        if offset >= self._next_snapshot:
            self._apply_snapshots(offset)
        if attributes & layout.CONTROL_FLAG:
            self._add_control(batch)
        else:
            first = self._open.setdefault(batch.producer_id, offset)
            if first < self._cleaned_offset <= offset:
                self._open_above.setdefault(batch.producer_id, offset)

    def _add_control(self, batch: Batch) -> None:
        control = batch.control()
        kind = None if control is None else control.type
        if kind is ControlType.MIRROR_PID_RESET:
            self._open.clear()
            self._open_above.clear()
        elif kind in (ControlType.ABORT, ControlType.COMMIT) or (control is None and batch.is_transactional):
            # The cleaner empties a marker when no aborted record of it remains, so an empty marker is a commit.
            first = self._open.pop(batch.producer_id, None)
            self._open_above.pop(batch.producer_id, None)
            if first is not None and kind is ControlType.ABORT:
                self._aborted.setdefault(batch.producer_id, []).append((first, batch.last_offset))

    def _apply_snapshots(self, offset: int) -> None:
        """Take the open transactions from the newest readable snapshot at or below `offset`."""
        assert self._open_at is not None, "there are snapshots"
        while self._pending_snapshots and self._pending_snapshots[-1] <= offset:
            found = self._open_at(self._pending_snapshots.pop())
            if found is not None:
                self._open = dict(found)
                self._open_above.clear()
        self._next_snapshot = self._pending_snapshots[-1] if self._pending_snapshots else _NEVER

    def finish(self, end_offset: int) -> Committed:
        """Return the result for the batches below `end_offset`, the end of the log or of the pass."""
        if end_offset >= self._next_snapshot:
            self._apply_snapshots(end_offset)
        undecided = [
            first if first >= self._cleaned_offset else self._open_above.get(producer_id)
            for producer_id, first in self._open.items()
        ]
        return Committed(self._aborted, min((first for first in undecided if first is not None), default=None))
