"""What does a partition know of the producers that wrote to it?

For each producer id: its epoch, the sequence numbers and offsets of its last five batches, and where its
open transaction begins. From this follow duplicate detection, fencing, the last stable offset and the
list of aborted transactions.

An append is staged first (`ProducerStates.stage`) and committed once the bytes are in the log, so that a
refused append leaves no trace. How much is checked depends on the origin, as in Kafka:

    CLIENT        sequence numbers, epochs, transaction state
    COORDINATOR   epochs and transaction state; the coordinators write without sequence numbers
    REPLICATION   transaction state, which no leader can have got wrong; else a follower must not refuse what
                  its leader has, and the cleaner may have left gaps in epochs and sequence numbers

A MIRROR_PID_RESET control record (KIP-1279, D15) empties the table: the ids of the source cluster mean
nothing to the coordinator of this one, which will hand the same numbers to other producers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.kernel.sharing import NOTHING, own
from kmirror.log.errors import LogAppendError
from kmirror.log.producer_entry import (
    NO_OFFSET,
    AbortedTxn,
    BatchMetadata,
    DataBatch,
    ProducerEntry,
    follows,
)
from kmirror.records.layout import NO_PRODUCER_EPOCH, NO_SEQUENCE, SEQUENCE_MAX
from kmirror.spec.error_codes import ErrorCode

PRODUCER_EPOCH_MAX = 0x7FFF


class AppendOrigin(Enum):
    """Who appends, and so what is validated."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


class CompletedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class Marker(NamedTuple):
    """A transaction marker; `timestamp` is its record's."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    offset: int
    timestamp: int
    commit: bool


class _Update:
    """The staged changes to one producer id."""

    __slots__ = ("changes_epoch", "current", "entry", "started")

    def __init__(self, producer_id: int, current: ProducerEntry | None) -> None:
        self.current = current
        self.entry = ProducerEntry(producer_id) if current is None else current.without_batches()
        self.changes_epoch = False  # Also true once the epoch has changed back.
        self.started: list[int] = []  # First offsets of transactions begun here.


class _Step:
    """Staged changes up to a PID reset, or up to the end of the append."""

    __slots__ = ("completed", "reset_offset", "updates")

    def __init__(self) -> None:
        self.updates: dict[int, _Update] = {}
        self.completed: list[CompletedTxn] = []
        self.reset_offset = NO_OFFSET


class Staging:
    """One append's changes, not yet visible; feed the batches in log order, then commit."""

    __slots__ = ("_origin", "_states", "_steps", "_transaction_version")

    def __init__(self, states: ProducerStates, origin: AppendOrigin, transaction_version: int) -> None:
        self._states = states
        self._origin = origin
        self._transaction_version = transaction_version
        self._steps = [_Step()]

    def _update(self, producer_id: int) -> _Update:
        updates = self._steps[-1].updates
        update = updates.get(producer_id)
        if update is None:
            # After a reset in this same append the table is empty, whatever it holds now.
            current = self._states.entries.get(producer_id) if len(self._steps) == 1 else None
            update = updates[producer_id] = _Update(producer_id, current)
        return update

    def expect(self, producer_ids: Iterable[int]) -> bool:
        """Make ready for batches of these producers, in that order; True if none of them has a transaction open."""
        entries = [self._update(producer_id).entry for producer_id in producer_ids]
        return all(entry.txn_first_offset < 0 for entry in entries)

    def add_data(self, batch: DataBatch) -> None:
        """Stage a data batch with a producer id; raises `LogAppendError` where the origin demands it."""
        update = self._update(batch.producer_id)
        if self._origin is not AppendOrigin.REPLICATION:
            _check_epoch(update.entry, batch.producer_epoch, batch.base_offset)
        if self._origin is AppendOrigin.CLIENT:
            _check_sequence(update, batch)
        self._add(update, *batch)

    def add_replicated(
        self,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        base_offset: int,
        last_offset: int,
        max_timestamp: int,
        is_transactional: bool,
    ) -> None:
        """Stage a data batch that its leader has checked; a mirror does so for each, hence the plain arguments."""
        update = self._steps[-1].updates.get(producer_id) or self._update(producer_id)
        self._add(
            update,
            producer_id,
            producer_epoch,
            base_sequence,
            base_offset,
            last_offset,
            max_timestamp,
            is_transactional,
        )

    def _add(
        self,
        update: _Update,
        producer_id: int,
        producer_epoch: int,
        base_sequence: int,
        base_offset: int,
        last_offset: int,
        max_timestamp: int,
        is_transactional: bool,
    ) -> None:
        entry = update.entry
        if entry.txn_first_offset >= 0:
            if not is_transactional:
                raise self._outside_transaction(entry, base_offset)
        elif is_transactional:
            entry.txn_first_offset = base_offset
            update.started.append(base_offset)
        if producer_epoch != entry.producer_epoch:
            update.changes_epoch = True
            entry.move_to_epoch(producer_epoch)
        entry.add_batch(base_sequence, last_offset, last_offset - base_offset, max_timestamp)

    def _outside_transaction(self, entry: ProducerEntry, base_offset: int) -> Exception:
        reason = (
            f"Producer {entry.producer_id} writes outside a transaction at offset {base_offset}, "
            f"and its transaction is open since offset {entry.txn_first_offset}"
        )
        if self._origin is AppendOrigin.REPLICATION:
            return CorruptBatch(reason, offset=base_offset)
        return LogAppendError(ErrorCode.INVALID_TXN_STATE, reason)

    def add_marker(self, marker: Marker) -> None:
        """Stage a transaction marker; one without an open transaction still moves the producer's epoch."""
        update = self._update(marker.producer_id)
        entry = update.entry
        if self._origin is not AppendOrigin.REPLICATION:
            if self._transaction_version >= 2:
                _check_bumped_epoch(entry, marker)
            _check_epoch(entry, marker.producer_epoch, marker.offset)
            if marker.coordinator_epoch < entry.coordinator_epoch:
                raise LogAppendError(
                    ErrorCode.TRANSACTION_COORDINATOR_FENCED,
                    f"Coordinator epoch {marker.coordinator_epoch} for producer {marker.producer_id} at "
                    f"offset {marker.offset} is below {entry.coordinator_epoch}, the last one seen",
                )
        if entry.txn_first_offset >= 0:
            self._steps[-1].completed.append(
                CompletedTxn(marker.producer_id, entry.txn_first_offset, marker.offset, not marker.commit)
            )
        update.changes_epoch |= marker.producer_epoch != entry.producer_epoch
        entry.move_to_epoch(marker.producer_epoch)
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.last_timestamp = marker.timestamp
        entry.txn_first_offset = NO_OFFSET

    def add_reset(self, offset: int) -> None:
        """Stage a MIRROR_PID_RESET: all that was known before it goes, what follows starts from nothing."""
        self._steps[-1].reset_offset = offset
        self._steps.append(_Step())

    def commit(self, *, batch_by_batch: bool = False) -> list[AbortedTxn]:
        """Apply everything; returns the rows for the transaction index, in log order.

        Producers of one append enter Kafka's table last one first; in a recovery, `batch_by_batch`, as they come.
        Two of them may share a bucket, and then a snapshot shows in which order they came. And a producer whose epoch
        falls (it was forgotten in between) and rises again keeps its earlier batches only if all that is one append.
        """
        aborted: list[AbortedTxn] = []
        for step in self._steps:
            updates = step.updates
            if batch_by_batch:
                for update in updates.values():
                    if update.changes_epoch and update.current is not None:
                        update.current.batches.clear()
            elif len(updates) > 1:
                updates = dict(reversed(updates.items()))
            self._states.apply(updates, step.completed, aborted)
            if step.reset_offset >= 0:
                self._states.reset(step.reset_offset)
        return aborted


class ProducerStates:
    """The producer table of one partition."""

    __slots__ = ("entries", "map_end_offset", "most", "ongoing", "overlapped", "snapshot_offset", "unreplicated")

    def __init__(self) -> None:
        self.entries: Mapping[int, ProducerEntry] = NOTHING
        self.most = 0  # How many entries there have been at once.
        # First offset -> producer id of every open transaction, ascending.
        self.ongoing: Mapping[int, int] = NOTHING
        # First offset -> last offset of transactions that are decided at or above the high watermark.
        # Until the marker is replicated, a new leader may not have it.
        self.unreplicated: Mapping[int, int] = NOTHING
        # First offset of a transaction that holds back the last stable offset -> first offset of the earliest of those
        # that began before it and ended since: a cut at the former reopens them. 0 where a snapshot does not say.
        self.overlapped: Mapping[int, int] = NOTHING
        self.map_end_offset = 0  # The table is that of the log below this offset.
        self.snapshot_offset = 0  # The offset of the newest snapshot in the store.

    def stage(self, origin: AppendOrigin, transaction_version: int = 0) -> Staging:
        return Staging(self, origin, transaction_version)

    def find_duplicate(self, batch: DataBatch) -> BatchMetadata | None:
        """Return the batch that this one repeats, if it is among the producer's last five."""
        entry = self.entries.get(batch.producer_id)
        return None if entry is None else entry.find_duplicate(batch)

    def apply(self, updates: dict[int, _Update], completed: list[CompletedTxn], aborted: list[AbortedTxn]) -> None:
        """Take in what a `Staging` collected: producers' new states, and transactions that began and ended."""
        started: list[tuple[int, int]] = []
        for producer_id, update in updates.items():
            known = self.entries.get(producer_id)
            if known is None:
                self.entries = own(self.entries)
                self.entries[producer_id] = update.entry
            else:
                known.take(update.entry)
            started.extend((offset, producer_id) for offset in update.started)
        self.most = max(self.most, len(self.entries))
        if started:
            self.ongoing = own(self.ongoing)
            self.ongoing.update(sorted(started))
        for txn in completed:
            if txn.aborted:
                aborted.append(AbortedTxn(*txn[:3], self._stable_offset_after(txn)))
            self.ongoing = own(self.ongoing)
            del self.ongoing[txn.first_offset]
            self._overlap(txn.first_offset)
            self.hold_back({txn.first_offset: txn.last_offset})

    def _overlap(self, first_offset: int) -> None:
        """Take in that a transaction ended while those that began after it are open."""
        for later in reversed(self.ongoing):
            if later < first_offset:
                break
            self.overlapped = own(self.overlapped)
            self.overlapped[later] = min(first_offset, self.overlapped.get(later, first_offset))

    def hold_back(self, transactions: Mapping[int, int]) -> None:
        """Take in transactions, by first offset, that are decided at an offset that may not be replicated yet."""
        if transactions:
            self.unreplicated = own(self.unreplicated)
            self.unreplicated.update(transactions)

    def _stable_offset_after(self, txn: CompletedTxn) -> int:
        """Return where the log is stable once `txn` is decided: the first other transaction open at its marker.

        Kafka also looks at what begins after the marker in the same append. On a follower, which appends
        many batches at once, its transaction index can so hide an aborted transaction; ours is the leader's.
        """
        for first_offset in self.ongoing:
            if first_offset != txn.first_offset:
                return min(first_offset, txn.last_offset + 1)
        return txn.last_offset + 1

    def reset(self, offset: int) -> None:
        """Forget every producer because of a PID reset at `offset`.

        Open transactions are over, but like a marker the reset must be replicated before the last stable
        offset may pass them, so they wait for the high watermark.
        """
        self.hold_back(dict.fromkeys(self.ongoing, offset))
        self.entries, self.ongoing = NOTHING, NOTHING

    def clear(self, end_offset: int) -> None:
        """Start from nothing at `end_offset`; there is nothing to snapshot below it."""
        self.entries, self.ongoing, self.unreplicated, self.overlapped = NOTHING, NOTHING, NOTHING, NOTHING
        self.map_end_offset = self.snapshot_offset = end_offset

    def first_unstable_offset(self) -> int | None:
        """Return the first offset of a transaction that is open, or decided but not yet replicated."""
        undecided = next(iter(self.ongoing), None)
        if not self.unreplicated:
            return undecided
        unreplicated = min(self.unreplicated)
        return unreplicated if undecided is None else min(undecided, unreplicated)

    def on_high_watermark(self, high_watermark: int) -> None:
        """Forget the transactions whose marker is now replicated: they no longer hold back the last stable offset."""
        if self.unreplicated:
            held = {first: last for first, last in self.unreplicated.items() if last >= high_watermark}
            self.unreplicated = held or NOTHING
        if self.overlapped:
            self.overlapped = {
                first: before
                for first, before in self.overlapped.items()
                if first in self.ongoing or first in self.unreplicated
            } or NOTHING

    def on_log_start(self, log_start_offset: int) -> None:
        """Follow the log start: what lies below it is replicated for good."""
        self.on_high_watermark(log_start_offset)
        self.map_end_offset = max(self.map_end_offset, log_start_offset)

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Drop producers without an open transaction that have been silent for `expiration_ms`."""
        expired = [
            producer_id
            for producer_id, entry in self.entries.items()
            if entry.txn_first_offset < 0 and now_ms - entry.last_timestamp >= expiration_ms
        ]
        if len(expired) == len(self.entries):
            self.entries = NOTHING
            return
        self.entries = own(self.entries)
        for producer_id in expired:
            del self.entries[producer_id]


def _check_epoch(entry: ProducerEntry, producer_epoch: int, offset: int) -> None:
    if producer_epoch < entry.producer_epoch:
        raise LogAppendError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"Epoch of producer {entry.producer_id} at offset {offset} is {producer_epoch}, below "
            f"{entry.producer_epoch}, the last one seen",
        )


def _check_bumped_epoch(entry: ProducerEntry, marker: Marker) -> None:
    """Refuse a marker of transactions v2 without the epoch after the transaction's (KIP-890).

    The transaction's own epoch may be that of a marker sent again, whose transaction is over; and it cannot be bumped
    where it is the last one.
    """
    epoch = marker.producer_epoch
    if epoch == entry.producer_epoch and entry.txn_first_offset >= 0 and epoch != PRODUCER_EPOCH_MAX:
        raise LogAppendError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"A marker of producer {entry.producer_id} at offset {marker.offset} has epoch {epoch}, expected one above "
            "it, as transactions v2 bump the epoch first",
        )


def _check_sequence(update: _Update, batch: DataBatch) -> None:
    """Refuse a batch that is not the next one; a producer that is unknown here may begin anywhere."""
    staged, current = update.entry, update.current
    if batch.producer_epoch != staged.producer_epoch:
        if batch.base_sequence != 0 and staged.producer_epoch != NO_PRODUCER_EPOCH:
            raise LogAppendError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Producer {batch.producer_id} begins epoch {batch.producer_epoch} at offset "
                f"{batch.base_offset} with sequence {batch.base_sequence}, expected 0 "
                f"(its epoch was {staged.producer_epoch})",
            )
        return
    if current is None:
        return
    if staged.batches:
        last = staged.last_sequence
    else:
        last = current.last_sequence if batch.producer_epoch == current.producer_epoch else NO_SEQUENCE
    if not follows(batch.base_sequence, last) and current.producer_epoch != NO_PRODUCER_EPOCH:
        raise LogAppendError(
            ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
            f"Producer {batch.producer_id} sends sequence {batch.base_sequence} at offset "
            f"{batch.base_offset}, expected {last + 1 if last != SEQUENCE_MAX else 0}",
        )
