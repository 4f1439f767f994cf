"""Verification of transaction indexes and producer snapshots against the log.

The state of the producers is tracked along with the batches: last batch, open transaction, aborted transactions. If
parts of the log are missing (compaction, retention), older files may know more than the log; then only contradictions
are faults. Producers missing in a snapshot may have expired, unless a transaction was open.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.log.producer_entry import AbortedTxn, ProducerEntry
from kmirror.log.state_files import ABORTED_ROW, TXN_INDEX_SUFFIX, decode_aborted, decode_snapshot
from kmirror.logdir.checkpoints import read_if_present
from kmirror.logdir.faults import Tally
from kmirror.logdir.partition import snapshots_of
from kmirror.logdir.segments import SegmentFile
from kmirror.logdir.verify.indexes import NEVER
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType

_ROW_SIZE: Final = ABORTED_ROW.size
_PRODUCER_FIELDS: Final = layout.header_struct("base_offset", "last_offset_delta", "producer_epoch", "base_sequence")


class _Last(NamedTuple):
    """Last batch of a producer in an epoch; the offset is -1 if there is none."""

    epoch: int
    last_sequence: int
    last_offset: int
    has_ended: bool = False  # True if a transaction of the producer ended after that batch.

    @classmethod
    def at(cls, view: memoryview, position: int) -> _Last:
        base, delta, epoch, sequence = _PRODUCER_FIELDS.unpack_from(view, position)
        return cls(epoch, layout.add_to_sequence(sequence, delta) if sequence >= 0 else sequence, base + delta)


class _Abort(NamedTuple):
    producer_id: int
    first_offset: int | None  # None if no data of the transaction is left in the log.
    position: int


class ProducerCheck:
    """State of the producers of a partition up to the last checked batch."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        self._tally = tally
        self._last: dict[int, _Last] = {}
        self.view = memoryview(b"")  # The current file.
        self.positions: dict[int, int] = {}  # Position of a producer's last batch in it, if newer than in `_last`.
        self._open: dict[int, int] = {}
        self._aborts: dict[int, _Abort] = {}  # For this segment: offset of the marker -> the transaction it ended.
        self.has_gaps = False
        self._first_segment_offset = self._log_start = 0
        self._knows_start = False  # True if the transactions open at the start of the log are known.
        found = snapshots_of(folder)
        self._snapshots = list(reversed(found))
        self.next_snapshot = found[0][0] if found else NEVER

    def start(self, base_offset: int, log_start_offset: int) -> None:
        """Start with the first segment; transactions open below it are known only from its snapshot."""
        self._first_segment_offset, self._log_start = base_offset, log_start_offset
        self._knows_start = base_offset == 0
        for offset, path in self._snapshots:
            if offset == base_offset:
                self._knows_start = True
                entries, _ = _read(path)
                self._open = {
                    entry.producer_id: entry.txn_first_offset for entry in entries if entry.txn_first_offset >= 0
                }

    def on_transactional(self, producer_id: int, base_offset: int) -> None:
        """Add a batch with records of a transaction."""
        self._open.setdefault(producer_id, base_offset)

    def on_batch(self, batch: Batch) -> None:
        """Add any other batch."""
        if not batch.is_control:
            if batch.has_producer_id:
                self.positions[batch.producer_id] = batch.position
                if batch.is_transactional:
                    self.on_transactional(batch.producer_id, batch.base_offset)
            return
        control = batch.control()
        kind = None if control is None else control.type
        if kind is ControlType.MIRROR_PID_RESET:
            self._last.clear()
            self.positions.clear()
            self._open.clear()
        elif kind in (ControlType.ABORT, ControlType.COMMIT):
            last = self._last_of(batch.producer_id)
            if last is None or last.epoch < batch.producer_epoch:
                # A new epoch has no batches yet.
                self._last[batch.producer_id] = _Last(batch.producer_epoch, layout.NO_SEQUENCE, -1)
            elif not last.has_ended:
                self._last[batch.producer_id] = last._replace(has_ended=True)
            first = self._open.pop(batch.producer_id, None)
            if kind is ControlType.ABORT:
                self._aborts[batch.last_offset] = _Abort(batch.producer_id, first, batch.position)

    def _last_of(self, producer_id: int) -> _Last | None:
        position = self.positions.pop(producer_id, None)
        if position is not None:
            self._last[producer_id] = _Last.at(self.view, position)
        return self._last.get(producer_id)

    def leave_file(self) -> None:
        """Save the state of the producers before the file is closed."""
        for producer_id, position in self.positions.items():
            self._last[producer_id] = _Last.at(self.view, position)
        self.positions.clear()
        self.view = memoryview(b"")

    # -- snapshots ----------------------------------------------------------------------------

    def on_offset(self, next_offset: int) -> None:
        """Check the snapshots at or below `next_offset`; all batches before that offset have been added."""
        while self._snapshots and self._snapshots[-1][0] <= next_offset:
            offset, path = self._snapshots.pop()
            self._compare(path, offset, self._entries(path))
        self.next_snapshot = self._snapshots[-1][0] if self._snapshots else NEVER

    def on_log_end(self, end_offset: int) -> None:
        """Check the remaining files at the log end."""
        self.on_offset(end_offset)
        for _, path in reversed(self._snapshots):
            self._entries(path)  # `missing.py` reports that they are above the log end.
        self._snapshots.clear()

    def _entries(self, path: Path) -> list[ProducerEntry]:
        self._tally.snapshots += 1
        entries, error = _read(path)
        if error is not None:
            self._tally.add_fault(path, error.reason, error.position)
        return entries

    def _compare(self, path: Path, offset: int, entries: list[ProducerEntry]) -> None:
        known = set()
        for entry in entries:
            known.add(entry.producer_id)
            reason = self._difference(entry, offset)
            if reason:
                self._tally.add_fault(path, f"producer {entry.producer_id}: {reason}")
        if self.has_gaps or not entries:
            return
        for producer_id, first in self._open.items():
            if producer_id not in known and not self._may_begin(-1, first):
                self._tally.add_fault(path, f"producer {producer_id} is missing, its transaction is open since {first}")

    def _difference(self, entry: ProducerEntry, offset: int) -> str | None:
        """Return the contradiction between the log and a snapshot entry at `offset`, or None."""
        if max(entry.last_data_offset, entry.txn_first_offset) >= offset:
            newest = max(entry.last_data_offset, entry.txn_first_offset)
            return f"the snapshot at offset {offset} has offset {newest}"
        last = self._last_of(entry.producer_id)
        end_offset = entry.last_data_offset
        # The producer was forgotten before it ended a transaction: expired, or as in `_may_begin`.
        was_forgotten = last is not None and last.has_ended and end_offset < 0 and entry.producer_epoch >= last.epoch
        if last is not None and not was_forgotten:
            if end_offset < last.last_offset or (end_offset != last.last_offset and not self.has_gaps):
                return f"its last batch ends at {end_offset}, but in the log at {last.last_offset}"
            if end_offset == last.last_offset and entry.last_sequence != last.last_sequence:
                return f"its last sequence is {entry.last_sequence}, but in the log {last.last_sequence}"
            if entry.producer_epoch < last.epoch:
                return f"its epoch is {entry.producer_epoch}, but in the log {last.epoch}"
        if not self.has_gaps and last is not None:
            first = self._open.get(entry.producer_id, -1)
            if not self._may_begin(entry.txn_first_offset, first):
                return f"its open transaction began at {entry.txn_first_offset}, but in the log at {first}"
        return None

    def _may_begin(self, file_first_offset: int, first: int) -> bool:
        """Return whether a file may have this start of a transaction that begins at `first` in the log (-1: none).

        The start of transactions that began below the first segment is known only from a snapshot. Also, Kafka 2.1
        forgets a producer without data above the log start, so in the file its transaction begins with its next batch,
        or not at all.
        """
        is_unknown = 0 <= file_first_offset < self._first_segment_offset and not self._knows_start
        is_forgotten = 0 <= first < self._log_start and not 0 <= file_first_offset < first
        return file_first_offset == first or is_unknown or is_forgotten

    # -- transaction indexes ------------------------------------------------------------------

    def on_segment_end(self, segment: SegmentFile, end_offset: int, *, is_complete: bool) -> None:
        """Compare the transaction index of the segment that ends here with its markers.

        Without `is_complete`, rows may be missing: a kill may happen between a marker and its row, or during recovery.
        """
        path, base_offset = segment.sibling(TXN_INDEX_SUFFIX), segment.base_offset
        data = read_if_present(path)
        rows: list[AbortedTxn] = []
        if data is not None:
            try:
                rows = decode_aborted(data, base_offset=base_offset)
            except CorruptBatch as error:
                self._tally.add_fault(path, error.reason, error.position)
            if len(data) % _ROW_SIZE:
                whole = len(data) - len(data) % _ROW_SIZE
                self._tally.add_fault(path, f"{len(data)} bytes, expected whole rows of {_ROW_SIZE}", whole)
        self._tally.index_entries += len(rows)
        indexed = set()
        for number, row in enumerate(rows):
            indexed.add(row.last_offset)
            reason = self._row_difference(row, end_offset)
            if reason:
                self._tally.add_fault(path, reason, number * _ROW_SIZE)
        for offset, abort in self._aborts.items() if is_complete else ():
            if offset not in indexed and abort.first_offset is not None:
                reason = f"aborts the transaction of producer {abort.producer_id}, which has no row in {path.name}"
                self._tally.add_fault(segment.path, reason, abort.position, offset)
        self._aborts.clear()

    def _row_difference(self, row: AbortedTxn, end_offset: int) -> str | None:
        if not 0 <= row.first_offset <= row.last_offset:
            return f"an aborted transaction from offset {row.first_offset} to {row.last_offset}"
        # A replica appends many batches at once, and counts as open a transaction that begins after the marker in the
        # append.
        if row.last_stable_offset > max(row.last_offset + 1, end_offset - 1):
            return f"the last stable offset is {row.last_stable_offset}, but the segment ends at {end_offset}"
        abort = self._aborts.get(row.last_offset)
        if abort is None:
            return None if self.has_gaps else f"no transaction is aborted at offset {row.last_offset}"
        if abort.producer_id != row.producer_id:
            return f"offset {row.last_offset} aborts producer {abort.producer_id}, not {row.producer_id}"
        if abort.first_offset is None or self.has_gaps:
            return None
        if not self._may_begin(row.first_offset, abort.first_offset):
            return f"the transaction begins at {row.first_offset}, but in the log at {abort.first_offset}"
        return None


def _read(path: Path) -> tuple[list[ProducerEntry], CorruptBatch | None]:
    try:
        return decode_snapshot(read_if_present(path) or b""), None
    except CorruptBatch as error:
        return [], error
