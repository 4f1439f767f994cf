"""Do transaction indexes and producer snapshots say what the log says?

The producers are followed as the batches pass: last batch, open transaction, aborted transactions. Where something is
missing from the log (compaction, retention), files that were written before may say more than the log does; then only
what contradicts it is a fault. Producers that a snapshot lacks may have expired, unless a transaction was open.
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
_OF_PRODUCER: Final = layout.header_struct("base_offset", "last_offset_delta", "producer_epoch", "base_sequence")


class _Last(NamedTuple):
    """The last batch of a producer in an epoch; the offset is -1 while there is none."""

    epoch: int
    last_sequence: int
    last_offset: int
    has_ended: bool = False  # A transaction of the producer ended after that batch.

    @classmethod
    def at(cls, view: memoryview, position: int) -> _Last:
        base, delta, epoch, sequence = _OF_PRODUCER.unpack_from(view, position)
        return cls(epoch, layout.add_to_sequence(sequence, delta) if sequence >= 0 else sequence, base + delta)


class _Abort(NamedTuple):
    producer_id: int
    first_offset: int | None  # None when no data of the transaction is in the log any more.
    position: int


class Producers:
    """The producers of a partition up to the batch that was passed last."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        self._tally = tally
        self._last: dict[int, _Last] = {}
        self.view = memoryview(b"")  # The file that is being walked.
        self.places: dict[int, int] = {}  # Where in it a producer's last batch is, newer than what `_last` says.
        self._open: dict[int, int] = {}
        self._aborts: dict[int, _Abort] = {}  # Of this segment: offset of the marker -> what it ended.
        self.has_gaps = False
        self._begins = self._log_start = 0
        self._knows_start = False  # Which transactions are open where the log begins.
        found = snapshots_of(folder)
        self._snapshots = list(reversed(found))
        self.next_snapshot = found[0][0] if found else NEVER

    def start(self, base_offset: int, log_start_offset: int) -> None:
        """Begin with the first segment; what was open below it is known from its snapshot alone."""
        self._begins, self._log_start = base_offset, log_start_offset
        self._knows_start = base_offset == 0
        for offset, path in self._snapshots:
            if offset == base_offset:
                self._knows_start = True
                entries, _ = _read(path)
                self._open = {
                    entry.producer_id: entry.txn_first_offset for entry in entries if entry.txn_first_offset >= 0
                }

    def on_transactional(self, producer_id: int, base_offset: int) -> None:
        """Take in a batch of records of a transaction."""
        self._open.setdefault(producer_id, base_offset)

    def on_batch(self, batch: Batch) -> None:
        """Take in any batch."""
        if not batch.is_control:
            if batch.has_producer_id:
                self.places[batch.producer_id] = batch.position
                if batch.is_transactional:
                    self.on_transactional(batch.producer_id, batch.base_offset)
            return
        control = batch.control()
        kind = None if control is None else control.type
        if kind is ControlType.MIRROR_PID_RESET:
            self._last.clear()
            self.places.clear()
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
        place = self.places.pop(producer_id, None)
        if place is not None:
            self._last[producer_id] = _Last.at(self.view, place)
        return self._last.get(producer_id)

    def leave_file(self) -> None:
        """Keep what is known of the producers when the file goes."""
        for producer_id, place in self.places.items():
            self._last[producer_id] = _Last.at(self.view, place)
        self.places.clear()
        self.view = memoryview(b"")

    # -- snapshots ----------------------------------------------------------------------------

    def on_offset(self, next_offset: int) -> None:
        """Look at the snapshots taken at or below `next_offset`, which all before have been passed."""
        while self._snapshots and self._snapshots[-1][0] <= next_offset:
            offset, path = self._snapshots.pop()
            self._compare(path, offset, self._entries(path))
        self.next_snapshot = self._snapshots[-1][0] if self._snapshots else NEVER

    def on_log_end(self, end_offset: int) -> None:
        """Look at what is left when the log ends."""
        self.on_offset(end_offset)
        for _, path in reversed(self._snapshots):
            self._entries(path)  # That they lie above the log end is said where missing segments are looked for.
        self._snapshots.clear()

    def _entries(self, path: Path) -> list[ProducerEntry]:
        self._tally.snapshots += 1
        entries, error = _read(path)
        if error is not None:
            self._tally.fault(path, error.reason, error.position)
        return entries

    def _compare(self, path: Path, offset: int, entries: list[ProducerEntry]) -> None:
        known = set()
        for entry in entries:
            known.add(entry.producer_id)
            reason = self._difference(entry, offset)
            if reason:
                self._tally.fault(path, f"producer {entry.producer_id}: {reason}")
        if self.has_gaps or not entries:
            return
        for producer_id, first in self._open.items():
            if producer_id not in known and not self._may_begin(-1, first):
                self._tally.fault(path, f"producer {producer_id} is missing, its transaction is open since {first}")

    def _difference(self, entry: ProducerEntry, offset: int) -> str | None:
        """Return what the entry of a snapshot at `offset` says that cannot be."""
        if max(entry.last_data_offset, entry.txn_first_offset) >= offset:
            newest = max(entry.last_data_offset, entry.txn_first_offset)
            return f"the snapshot of all below {offset} knows offset {newest}"
        last = self._last_of(entry.producer_id)
        ends = entry.last_data_offset
        # A producer that had been forgotten when it ended a transaction: expired, or as in `_may_begin`.
        is_anew = last is not None and last.has_ended and ends < 0 and entry.producer_epoch >= last.epoch
        if last is not None and not is_anew:
            if ends < last.last_offset or (ends != last.last_offset and not self.has_gaps):
                return f"its last batch ends at {ends}, and in the log at {last.last_offset}"
            if ends == last.last_offset and entry.last_sequence != last.last_sequence:
                return f"its last sequence is {entry.last_sequence}, and in the log {last.last_sequence}"
            if entry.producer_epoch < last.epoch:
                return f"its epoch is {entry.producer_epoch}, and in the log {last.epoch}"
        if not self.has_gaps and last is not None:
            first = self._open.get(entry.producer_id, -1)
            if not self._may_begin(entry.txn_first_offset, first):
                return f"its open transaction began at {entry.txn_first_offset}, and in the log at {first}"
        return None

    def _may_begin(self, told: int, first: int) -> bool:
        """Return whether a transaction that begins at `first` in the log (-1: nowhere) may begin where a file says.

        What began below the first segment is known from a snapshot alone. And Kafka 2.1 forgets a producer that has
        nothing above the log start, so its transaction begins anew with its next batch, or nowhere.
        """
        is_gone = 0 <= told < self._begins and not self._knows_start
        is_forgotten = 0 <= first < self._log_start and not 0 <= told < first
        return told == first or is_gone or is_forgotten

    # -- transaction indexes ------------------------------------------------------------------

    def on_segment_end(self, segment: SegmentFile, end_offset: int, *, is_complete: bool) -> None:
        """Hold the transaction index of the segment that ends here against its markers.

        Unless it `is_complete`, rows may be missing: a kill may come between a marker and its row, or in a recovery.
        """
        path, base_offset = segment.beside(TXN_INDEX_SUFFIX), segment.base_offset
        data = read_if_present(path)
        rows: list[AbortedTxn] = []
        if data is not None:
            try:
                rows = decode_aborted(data, base_offset=base_offset)
            except CorruptBatch as error:
                self._tally.fault(path, error.reason, error.position)
            if len(data) % _ROW_SIZE:
                whole = len(data) - len(data) % _ROW_SIZE
                self._tally.fault(path, f"{len(data)} bytes, expected whole rows of {_ROW_SIZE}", whole)
        self._tally.index_entries += len(rows)
        indexed = set()
        for number, row in enumerate(rows):
            indexed.add(row.last_offset)
            reason = self._row_difference(row, end_offset)
            if reason:
                self._tally.fault(path, reason, number * _ROW_SIZE)
        for offset, abort in self._aborts.items() if is_complete else ():
            if offset not in indexed and abort.first_offset is not None:
                reason = f"aborts the transaction of producer {abort.producer_id} that no row of {path.name} tells of"
                self._tally.fault(segment.path, reason, abort.position, offset)
        self._aborts.clear()

    def _row_difference(self, row: AbortedTxn, end_offset: int) -> str | None:
        if not 0 <= row.first_offset <= row.last_offset:
            return f"an aborted transaction from offset {row.first_offset} to {row.last_offset}"
        # A replica appends many batches at once, and takes for open what begins after the marker in the same append.
        if row.last_stable_offset > max(row.last_offset + 1, end_offset - 1):
            return f"the last stable offset is {row.last_stable_offset}, and the segment ends at {end_offset}"
        abort = self._aborts.get(row.last_offset)
        if abort is None:
            return None if self.has_gaps else f"no transaction is aborted at offset {row.last_offset}"
        if abort.producer_id != row.producer_id:
            return f"offset {row.last_offset} aborts producer {abort.producer_id}, not {row.producer_id}"
        if abort.first_offset is None or self.has_gaps:
            return None
        if not self._may_begin(row.first_offset, abort.first_offset):
            return f"the transaction begins at {row.first_offset}, and in the log at {abort.first_offset}"
        return None


def _read(path: Path) -> tuple[list[ProducerEntry], CorruptBatch | None]:
    try:
        return decode_snapshot(read_if_present(path) or b""), None
    except CorruptBatch as error:
        return [], error
