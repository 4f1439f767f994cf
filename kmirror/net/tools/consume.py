"""What would a consumer get from this partition?

Rule 1: nothing below the log start offset, nothing at or above the high watermark, and no control records.
Rule 2: read_committed ends at the last stable offset, the first offset of the first transaction that has no end below
the high watermark, and leaves out what belongs to an aborted transaction.

A transaction is followed by producer id from its first batch to its end marker, in one walk over the headers. Where
the first segments are gone, the producer snapshot taken where the log now begins tells what was open there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kmirror.errors import CorruptBatch
from kmirror.log.state_files import SNAPSHOT_SUFFIX, decode_snapshot, file_name
from kmirror.net.log_checkpoints import read_if_present
from kmirror.net.tools.mapped import fault_of
from kmirror.net.tools.partition_folder import PartitionFolder, iter_batches
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType
from kmirror.records.record import Record


@dataclass(slots=True)
class Transactions:
    """The end of what is decided, and which transactions were aborted: (first offset, producer id) by offset."""

    last_stable_offset: int | None = None
    aborted: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class _Walk:
    open: dict[int, int]  # Producer id -> first offset.
    aborted: list[tuple[int, int]] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        if batch.is_control:
            self._add_control(batch)
        elif batch.is_transactional:
            self.open.setdefault(batch.producer_id, batch.base_offset)

    def _add_control(self, batch: Batch) -> None:
        control = batch.control()
        kind = None if control is None else control.type
        if kind is ControlType.MIRROR_PID_RESET:
            self.open.clear()
        elif kind in (ControlType.ABORT, ControlType.COMMIT):
            first = self.open.pop(batch.producer_id, None)
            if first is not None and kind is ControlType.ABORT:
                self.aborted.append((first, batch.producer_id))


def read_transactions(folder: PartitionFolder, *, end: int | None) -> Transactions:
    """Return what the transactions below offset `end` came to; raises `FileFault`."""
    walk = _Walk(_open_at_start(folder))
    next_offset = folder.log_start_offset
    for file, batch in iter_batches(folder.segments, end=end):
        next_offset = batch.next_offset
        if isinstance(batch, Batch):
            try:
                walk.add(batch)
            except CorruptBatch as error:
                raise fault_of(error, file.path) from None
    stable = min(walk.open.values(), default=next_offset)
    return Transactions(max(stable, folder.log_start_offset), sorted(walk.aborted))


def _open_at_start(folder: PartitionFolder) -> dict[int, int]:
    if not folder.segments:
        return {}
    path = folder.path / file_name(folder.segments[0].base_offset, SNAPSHOT_SUFFIX)
    data = read_if_present(path)
    if data is None:
        return {}
    try:
        entries = decode_snapshot(data)
    except CorruptBatch as error:
        raise fault_of(error, path) from None
    return {entry.producer_id: entry.txn_first_offset for entry in entries if entry.txn_first_offset >= 0}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which records to read; `timestamp`, in milliseconds, asks for the first that is not older and all that follow."""

    from_offset: int = 0
    timestamp: int | None = None
    read_committed: bool = False
    to_end: bool = False  # Also what is at or above the high watermark.


def consume(folder: PartitionFolder, wanted: Wanted) -> Iterator[Record]:
    """Yield the records in offset order; raises `FileFault` at bytes that are no batch or fail their checksum."""
    end = None if wanted.to_end else folder.high_watermark
    start = max(wanted.from_offset, folder.log_start_offset)
    transactions = Transactions()
    if wanted.read_committed:
        transactions = read_transactions(folder, end=end)
        end = transactions.last_stable_offset
    return _records(folder, start, end, wanted.timestamp, transactions.aborted)


def _records(
    folder: PartitionFolder, start: int, end: int | None, since: int | None, aborted: list[tuple[int, int]]
) -> Iterator[Record]:
    """Yield the records from `start` on, from the first one that is not older than `since`.

    As for ListOffsets that first one may be a control record or of an aborted transaction, which are not yielded.
    """
    waiting = list(reversed(aborted))
    rejected: set[int] = set()
    for file, batch in iter_batches(folder.segments_from(folder.log_start_offset if aborted else start), end=end):
        while waiting and waiting[-1][0] <= batch.last_offset:
            rejected.add(waiting.pop()[1])
        is_control = isinstance(batch, Batch) and batch.is_control
        if is_control:
            rejected.discard(batch.producer_id)
        is_hidden = is_control or (batch.is_transactional and batch.producer_id in rejected)
        if batch.next_offset <= start or (since is not None and batch.max_timestamp < since):
            continue
        if is_hidden and since is None:
            continue
        try:
            batch.verify_crc()
            for record in batch.records():
                if record.offset < start:
                    continue
                if since is not None and record.timestamp >= since:
                    since = None
                if since is None and not is_hidden:
                    yield record
        except CorruptBatch as error:
            raise fault_of(error, file.path) from None
