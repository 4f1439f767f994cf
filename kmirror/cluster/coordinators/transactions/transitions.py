"""State transitions of a transactional id: InitProducerId, added partitions, and the end of a transaction.

Each function returns the next state and does not change its argument. The transitions and the recorded fields are those
of Kafka (TransactionMetadata), including fields that no reader needs.

With transaction.version 2 (KIP-890 part 2) the end of a transaction raises the producer epoch. PREPARE_* and the
markers already have the raised epoch, so that no late batch or marker can become part of the next transaction. The
client continues with the raised epoch. Clients never get the last epoch: a transaction in the one before it ends with
the last epoch, and the client continues with another producer id in epoch 0.
"""

from __future__ import annotations

from dataclasses import replace

from kmirror.cluster.coordinators.transactions.state import (
    COMPLETED,
    EPOCH_MAX,
    NO_PRODUCER_ID,
    Status,
    Transaction,
)
from kmirror.kernel.ids import TopicPartition

NO_EPOCH = -1


def create(transactional_id: str, producer_id: int, *, timeout_ms: int, now_ms: int) -> Transaction:
    """Return the first state of a transactional id, whose producer gets `producer_id`."""
    return Transaction(
        transactional_id,
        producer_id,
        producer_epoch=0,
        timeout_ms=timeout_ms,
        updated_ms=now_ms,
        previous_producer_id=producer_id,
    )


def initialise(
    known: Transaction, *, producer_id: int, producer_epoch: int, timeout_ms: int, now_ms: int
) -> Transaction:
    """Return the state after InitProducerId returned this producer id and epoch."""
    return replace(
        known,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        status=Status.EMPTY,
        partitions=(),
        started_ms=-1,
        timeout_ms=timeout_ms,
        updated_ms=now_ms,
        previous_producer_id=known.producer_id,
    )


def with_partitions(
    known: Transaction, partitions: tuple[TopicPartition, ...], *, client_version: int, now_ms: int
) -> Transaction:
    """Return the state with `partitions` added to the open transaction, or with a new transaction."""
    ongoing = known.status is Status.ONGOING
    return replace(
        known,
        status=Status.ONGOING,
        partitions=tuple(dict.fromkeys((*(known.partitions if ongoing else ()), *partitions))),
        updated_ms=now_ms,
        started_ms=known.started_ms if ongoing else now_ms,
        previous_producer_id=known.producer_id,
        client_version=client_version,
    )


def prepare(
    known: Transaction,
    *,
    commit: bool,
    now_ms: int,
    client_version: int,
    fences: bool = False,
    next_producer_id: int = NO_PRODUCER_ID,
) -> Transaction:
    """Return PREPARE_COMMIT or PREPARE_ABORT, with the epoch of the markers.

    The epoch is raised by one if `client_version` requires it, or if the broker ends the transaction and `fences` its
    producer. With raised epochs a transaction without partitions can be aborted; its start time is now.
    """
    after = replace(
        known,
        status=Status.PREPARE_COMMIT if commit else Status.PREPARE_ABORT,
        started_ms=known.started_ms if known.status is Status.ONGOING else now_ms,
        updated_ms=now_ms,
        previous_producer_id=known.producer_id,
        next_producer_id=next_producer_id,
        client_version=client_version,
    )
    if fences or after.bumps_epochs:
        after = replace(after, producer_epoch=min(known.producer_epoch + 1, EPOCH_MAX))
    return after


def complete(known: Transaction, *, now_ms: int) -> Transaction:
    """Return COMPLETE_COMMIT or COMPLETE_ABORT after PREPARE_*, with the producer id and epoch for the client."""
    commit = known.status is Status.PREPARE_COMMIT
    after = replace(
        known,
        status=Status.COMPLETE_COMMIT if commit else Status.COMPLETE_ABORT,
        partitions=(),
        updated_ms=now_ms,
        previous_producer_id=known.producer_id,
        next_producer_id=NO_PRODUCER_ID,
    )
    if known.bumps_epochs and known.next_producer_id != NO_PRODUCER_ID:
        after = replace(after, producer_id=known.next_producer_id, producer_epoch=0)
    return after


def epoch_before_end(known: Transaction) -> int:
    """Return the producer epoch before the last transaction's end raised it; NO_EPOCH if it was not raised.

    A client that missed the response still sends this epoch.
    """
    if known.status not in COMPLETED or not known.bumps_epochs:
        return NO_EPOCH
    if known.producer_epoch > 0:
        return known.producer_epoch - 1
    return EPOCH_MAX - 1 if known.previous_producer_id != known.producer_id else NO_EPOCH
