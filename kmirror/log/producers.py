"""Producer table of a partition.

For each producer id it keeps the epoch, the sequence numbers and offsets of the last five batches, and the start of the
open transaction. Duplicate detection, fencing, the last stable offset and the list of aborted transactions are based on
it.

An append is staged first (`ProducerStates.stage`) and committed once its bytes are in the log, so a rejected append
changes nothing. The checks depend on the origin, as in Kafka:

    CLIENT        sequence numbers, epochs, transaction state
    COORDINATOR   epochs and transaction state; coordinators write without sequence numbers
    REPLICATION   transaction state, which every leader keeps valid; otherwise a follower must accept everything
                  its leader has, and the cleaner may have left gaps in epochs and sequence numbers

A MIRROR_PID_RESET control record (KIP-1279, D15) empties the table: this cluster's coordinator does not know the
producer ids of the source cluster and will give the same ids to other producers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import NamedTuple

from kmirror.errors import CorruptBatch
from kmirror.kernel.empty_table import EMPTY, writable
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
    """Origin of an append; it decides which checks apply."""

    CLIENT = "client"
    COORDINATOR = "coordinator"
    REPLICATION = "replication"


class CompletedTxn(NamedTuple):
    producer_id: int
    first_offset: int
    last_offset: int
    aborted: bool


class Marker(NamedTuple):
    """A transaction marker; `timestamp` is the timestamp of its record."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    offset: int
    timestamp: int
    commit: bool


class _Update:
    """Staged changes to one producer id."""

    __slots__ = ("begun_offsets", "changes_epoch", "current", "entry")

    def __init__(self, producer_id: int, current: ProducerEntry | None) -> None:
        self.current = current
        self.entry = ProducerEntry(producer_id) if current is None else current.without_batches()
        self.changes_epoch = False  # Stays true if the epoch changes back.
        self.begun_offsets: list[int] = []  # First offsets of transactions begun in this step.


class _Step:
    """Staged changes up to a PID reset, or up to the end of the append."""

    __slots__ = ("completed", "reset_offset", "updates")

    def __init__(self) -> None:
        self.updates: dict[int, _Update] = {}
        self.completed: list[CompletedTxn] = []
        self.reset_offset = NO_OFFSET


class Staging:
    """Changes of one append, not yet visible: add the batches in log order, then commit."""

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
            # After a reset in this append the table counts as empty.
            current = self._states.entries.get(producer_id) if len(self._steps) == 1 else None
            update = updates[producer_id] = _Update(producer_id, current)
        return update

    def prepare_updates(self, producer_ids: Iterable[int]) -> bool:
        """Create the updates of these producers, in this order; return whether none has an open transaction."""
        entries = [self._update(producer_id).entry for producer_id in producer_ids]
        return all(entry.txn_first_offset < 0 for entry in entries)

    def add_data(self, batch: DataBatch) -> None:
        """Stage a data batch with a producer id; raises `LogAppendError` if a check of the origin fails."""
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
        """Stage a data batch that its leader has validated. A mirror's hot path, hence the plain arguments."""
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
            update.begun_offsets.append(base_offset)
        if producer_epoch != entry.producer_epoch:
            update.changes_epoch = True
            entry.move_to_epoch(producer_epoch)
        entry.add_batch(base_sequence, last_offset, last_offset - base_offset, max_timestamp)

    def _outside_transaction(self, entry: ProducerEntry, base_offset: int) -> Exception:
        reason = (
            f"Producer {entry.producer_id} writes outside a transaction at offset {base_offset}, "
            f"but its transaction is open since offset {entry.txn_first_offset}"
        )
        if self._origin is AppendOrigin.REPLICATION:
            return CorruptBatch(reason, offset=base_offset)
        return LogAppendError(ErrorCode.INVALID_TXN_STATE, reason)

    def add_marker(self, marker: Marker) -> None:
        """Stage a transaction marker; without an open transaction it still sets the producer's epoch."""
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
        """Stage a MIRROR_PID_RESET: all earlier state is removed, and later batches start with an empty table."""
        self._steps[-1].reset_offset = offset
        self._steps.append(_Step())

    def commit(self, *, batch_by_batch: bool = False) -> list[AbortedTxn]:
        """Apply all changes; return the rows for the transaction index, in log order.

        Producers of one append enter Kafka's table in reverse order; in a recovery (`batch_by_batch`) in log order. If
        two of them share a hash bucket, a snapshot shows that order. Also, a producer whose epoch falls (it was
        forgotten in between) and rises again keeps its earlier batches only if all of that is one append.
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
    """Producer table of one partition."""

    __slots__ = (
        "entries",
        "map_end_offset",
        "max_count",
        "ongoing",
        "reopened_from",
        "snapshot_offset",
        "unreplicated",
    )

    def __init__(self) -> None:
        self.entries: Mapping[int, ProducerEntry] = EMPTY
        self.max_count = 0  # Maximum number of entries so far.
        # First offset -> producer id of every open transaction, ascending.
        self.ongoing: Mapping[int, int] = EMPTY
        # First offset -> last offset of transactions decided at or above the high watermark. A new leader may not have
        # the marker until it is replicated.
        self.unreplicated: Mapping[int, int] = EMPTY
        # First offset of a transaction that holds back the last stable offset -> smallest first offset of the
        # transactions that began before it and have ended since: a truncation to its first offset reopens them. 0 if
        # unknown (from a snapshot).
        self.reopened_from: Mapping[int, int] = EMPTY
        self.map_end_offset = 0  # The table covers the log below this offset.
        self.snapshot_offset = 0  # Offset of the newest snapshot in the store.

    def stage(self, origin: AppendOrigin, transaction_version: int = 0) -> Staging:
        return Staging(self, origin, transaction_version)

    def find_duplicate(self, batch: DataBatch) -> BatchMetadata | None:
        """Return the batch that this one repeats, if it is among the producer's last five; else None."""
        entry = self.entries.get(batch.producer_id)
        return None if entry is None else entry.find_duplicate(batch)

    def apply(self, updates: dict[int, _Update], completed: list[CompletedTxn], aborted: list[AbortedTxn]) -> None:
        """Apply the changes of a `Staging`: new producer states, and transactions that began and ended."""
        begun_offsets: list[tuple[int, int]] = []
        for producer_id, update in updates.items():
            known = self.entries.get(producer_id)
            if known is None:
                self.entries = writable(self.entries)
                self.entries[producer_id] = update.entry
            else:
                known.update_from(update.entry)
            begun_offsets.extend((offset, producer_id) for offset in update.begun_offsets)
        self.max_count = max(self.max_count, len(self.entries))
        if begun_offsets:
            self.ongoing = writable(self.ongoing)
            self.ongoing.update(sorted(begun_offsets))
        for txn in completed:
            if txn.aborted:
                aborted.append(AbortedTxn(*txn[:3], self._stable_offset_after(txn)))
            self.ongoing = writable(self.ongoing)
            del self.ongoing[txn.first_offset]
            self._record_overlap(txn.first_offset)
            self.add_unreplicated({txn.first_offset: txn.last_offset})

    def _record_overlap(self, first_offset: int) -> None:
        """Record that a transaction ended while later ones are open."""
        for later in reversed(self.ongoing):
            if later < first_offset:
                break
            self.reopened_from = writable(self.reopened_from)
            self.reopened_from[later] = min(first_offset, self.reopened_from.get(later, first_offset))

    def add_unreplicated(self, transactions: Mapping[int, int]) -> None:
        """Add transactions (first offset -> last offset) that are decided but possibly not replicated yet."""
        if transactions:
            self.unreplicated = writable(self.unreplicated)
            self.unreplicated.update(transactions)

    def _stable_offset_after(self, txn: CompletedTxn) -> int:
        """Return the last stable offset after `txn`: the first other transaction that is open at its marker.

        Kafka also counts transactions that begin after the marker in the same append. As a follower appends many
        batches at once, its transaction index can then hide an aborted transaction. Here the result is always the
        leader's.
        """
        for first_offset in self.ongoing:
            if first_offset != txn.first_offset:
                return min(first_offset, txn.last_offset + 1)
        return txn.last_offset + 1

    def reset(self, offset: int) -> None:
        """Remove every producer because of a PID reset at `offset`.

        Open transactions are ended. But like a marker, the reset must be replicated before the last stable offset may
        pass them, so they wait for the high watermark.
        """
        self.add_unreplicated(dict.fromkeys(self.ongoing, offset))
        self.entries, self.ongoing = EMPTY, EMPTY

    def clear(self, end_offset: int) -> None:
        """Remove everything; the table then starts at `end_offset`, and there is nothing to snapshot below it."""
        self.entries, self.ongoing, self.unreplicated, self.reopened_from = EMPTY, EMPTY, EMPTY, EMPTY
        self.map_end_offset = self.snapshot_offset = end_offset

    def first_unstable_offset(self) -> int | None:
        """Return the first offset of a transaction that is open, or decided but not replicated; None if none is."""
        undecided = next(iter(self.ongoing), None)
        if not self.unreplicated:
            return undecided
        unreplicated = min(self.unreplicated)
        return unreplicated if undecided is None else min(undecided, unreplicated)

    def on_high_watermark(self, high_watermark: int) -> None:
        """Drop transactions whose marker is now replicated: they no longer hold back the last stable offset."""
        if self.unreplicated:
            waiting = {first: last for first, last in self.unreplicated.items() if last >= high_watermark}
            self.unreplicated = waiting or EMPTY
        if self.reopened_from:
            self.reopened_from = {
                first: before
                for first, before in self.reopened_from.items()
                if first in self.ongoing or first in self.unreplicated
            } or EMPTY

    def on_log_start(self, log_start_offset: int) -> None:
        """Follow the log start: everything below it is replicated."""
        self.on_high_watermark(log_start_offset)
        self.map_end_offset = max(self.map_end_offset, log_start_offset)

    def remove_expired(self, now_ms: int, expiration_ms: int) -> None:
        """Remove producers without an open transaction that have been inactive for `expiration_ms`."""
        expired = [
            producer_id
            for producer_id, entry in self.entries.items()
            if entry.txn_first_offset < 0 and now_ms - entry.last_timestamp >= expiration_ms
        ]
        if len(expired) == len(self.entries):
            self.entries = EMPTY
            return
        self.entries = writable(self.entries)
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
    """Reject a marker of transactions v2 that does not have the bumped epoch (KIP-890).

    A marker with the transaction's own epoch is valid if it is a repeated one, so that no transaction is open, or if
    the epoch is the greatest possible and cannot be bumped.
    """
    epoch = marker.producer_epoch
    if epoch == entry.producer_epoch and entry.txn_first_offset >= 0 and epoch != PRODUCER_EPOCH_MAX:
        raise LogAppendError(
            ErrorCode.INVALID_PRODUCER_EPOCH,
            f"A marker of producer {entry.producer_id} at offset {marker.offset} has epoch {epoch}, expected the next "
            "epoch, because transactions v2 bump the epoch first",
        )


def _check_sequence(update: _Update, batch: DataBatch) -> None:
    """Reject a batch that is not the next one; a producer unknown here may start with any sequence number."""
    staged, current = update.entry, update.current
    if batch.producer_epoch != staged.producer_epoch:
        if batch.base_sequence != 0 and staged.producer_epoch != NO_PRODUCER_EPOCH:
            raise LogAppendError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"Producer {batch.producer_id} starts epoch {batch.producer_epoch} at offset "
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
