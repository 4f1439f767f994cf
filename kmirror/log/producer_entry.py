"""Producer state of a partition per producer id, and the rows of the transaction index.

`producers` defines how they change.
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.records.layout import (
    NO_PRODUCER_EPOCH,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    SEQUENCE_MAX,
    add_to_sequence,
    subtract_from_sequence,
)

BATCHES_RETAINED = 5
NO_OFFSET = -1


class BatchMetadata(NamedTuple):
    """Metadata of one batch, enough to answer a duplicate of it."""

    last_sequence: int
    last_offset: int
    offset_delta: int
    timestamp: int

    @property
    def first_offset(self) -> int:
        return self.last_offset - self.offset_delta

    @property
    def first_sequence(self) -> int:
        return subtract_from_sequence(self.last_sequence, self.offset_delta)


def follows(base_sequence: int, last_sequence: int) -> bool:
    """Return whether `base_sequence` comes next after `last_sequence` (-1 for none)."""
    return base_sequence == last_sequence + 1 or (base_sequence == 0 and last_sequence == SEQUENCE_MAX)


class AbortedTxn(NamedTuple):
    """A row of the transaction index; a fetch response has its first two fields."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


class DataBatch(NamedTuple):
    """Header fields of a data batch that the producer table needs."""

    producer_id: int
    producer_epoch: int
    base_sequence: int
    base_offset: int
    last_offset: int
    max_timestamp: int
    is_transactional: bool

    @property
    def last_sequence(self) -> int:
        """Sequence number of the last record, -1 for a batch without one; 2**31-1 is followed by 0."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return add_to_sequence(self.base_sequence, self.last_offset - self.base_offset)


class ProducerEntry:
    """State of one producer id; `txn_first_offset` is -1 while no transaction is open."""

    __slots__ = (
        "batches",
        "coordinator_epoch",
        "last_timestamp",
        "producer_epoch",
        "producer_id",
        "txn_first_offset",
    )

    def __init__(
        self,
        producer_id: int,
        producer_epoch: int = NO_PRODUCER_EPOCH,
        coordinator_epoch: int = -1,
        last_timestamp: int = NO_TIMESTAMP,
        txn_first_offset: int = NO_OFFSET,
    ) -> None:
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.coordinator_epoch = coordinator_epoch
        self.last_timestamp = last_timestamp
        self.txn_first_offset = txn_first_offset
        self.batches: list[BatchMetadata] = []

    def without_batches(self) -> ProducerEntry:
        """Return a copy without the retained batches, to stage the next append."""
        return ProducerEntry(
            self.producer_id,
            self.producer_epoch,
            self.coordinator_epoch,
            self.last_timestamp,
            self.txn_first_offset,
        )

    @property
    def last_sequence(self) -> int:
        return self.batches[-1].last_sequence if self.batches else NO_SEQUENCE

    @property
    def last_data_offset(self) -> int:
        return self.batches[-1].last_offset if self.batches else NO_OFFSET

    @property
    def last_offset_delta(self) -> int:
        return self.batches[-1].offset_delta if self.batches else 0

    def move_to_epoch(self, producer_epoch: int) -> None:
        """Set the epoch; a new epoch forgets the batches of the old one, as its sequence starts at 0 again."""
        if producer_epoch != self.producer_epoch:
            self.batches.clear()
            self.producer_epoch = producer_epoch

    def add_batch(self, base_sequence: int, last_offset: int, offset_delta: int, timestamp: int) -> None:
        """Retain a batch of the producer's current epoch."""
        last_sequence = NO_SEQUENCE if base_sequence == NO_SEQUENCE else base_sequence + offset_delta
        if last_sequence > SEQUENCE_MAX:
            last_sequence -= SEQUENCE_MAX + 1
        batches = self.batches
        if len(batches) == BATCHES_RETAINED:
            del batches[0]
        batches.append(BatchMetadata(last_sequence, last_offset, offset_delta, timestamp))
        self.last_timestamp = timestamp

    def update_from(self, newer: ProducerEntry) -> None:
        """Take over the state of `newer`; older batches of the same epoch are kept, up to BATCHES_RETAINED in total."""
        self.move_to_epoch(newer.producer_epoch)
        self.batches.extend(newer.batches)
        del self.batches[:-BATCHES_RETAINED]
        self.coordinator_epoch = newer.coordinator_epoch
        self.txn_first_offset = newer.txn_first_offset
        self.last_timestamp = newer.last_timestamp

    def is_followed_by(self, base_sequence: int) -> bool:
        """Return whether a batch of the current epoch with this base sequence is the next one."""
        return follows(base_sequence, self.last_sequence)

    def find_duplicate(self, batch: DataBatch) -> BatchMetadata | None:
        """Return the retained batch with exactly this epoch and these sequence numbers, or None."""
        if batch.producer_epoch != self.producer_epoch:
            return None
        last_sequence = batch.last_sequence
        for known in self.batches:
            if known.last_sequence == last_sequence and known.first_sequence == batch.base_sequence:
                return known
        return None

    def __repr__(self) -> str:
        return (
            f"ProducerEntry(producer_id={self.producer_id}, producer_epoch={self.producer_epoch}, "
            f"last_sequence={self.last_sequence}, txn_first_offset={self.txn_first_offset})"
        )
