"""What becomes of a transactional id when its producer is initialised, adds partitions, and ends a transaction?

Each function returns the next state and leaves the one that it is given. They are Kafka's transitions
(TransactionMetadata), and say what its records say: also what no reader of them needs.

With transaction.version 2 (KIP-890 part 2) the end of a transaction raises the producer epoch: PREPARE_* has the raised
one already, and so have the markers, so that neither a late batch nor a late marker is taken for the next
transaction's. The client goes on with the raised epoch. The last epoch but one is the last that a client gets; its
transaction ends with the last one, and the client goes on with another producer id in epoch 0.
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


def created(transactional_id: str, producer_id: int, *, timeout_ms: int, now_ms: int) -> Transaction:
    """Return the state of a transactional id that has none, whose producer gets `producer_id`."""
    return Transaction(
        transactional_id,
        producer_id,
        producer_epoch=0,
        timeout_ms=timeout_ms,
        updated_ms=now_ms,
        previous_producer_id=producer_id,
    )


def initialised(
    known: Transaction, *, producer_id: int, producer_epoch: int, timeout_ms: int, now_ms: int
) -> Transaction:
    """Return the state after InitProducerId was answered with this producer id and epoch."""
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
    """Return the state with `partitions` added to the open transaction, or with a transaction begun by them."""
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


def prepared(
    known: Transaction,
    *,
    commit: bool,
    now_ms: int,
    client_version: int,
    fences: bool = False,
    next_producer_id: int = NO_PRODUCER_ID,
) -> Transaction:
    """Return PREPARE_COMMIT or PREPARE_ABORT, with the epoch of the markers.

    It is raised by one if `client_version` says so, or if the broker ends the transaction itself, which `fences`
    its producer. A transaction that no partition was added to can be aborted where epochs are raised; it begins now.
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


def completed(known: Transaction, *, now_ms: int) -> Transaction:
    """Return COMPLETE_COMMIT or COMPLETE_ABORT after PREPARE_*: what its client was answered."""
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
    """Return the epoch of the last transaction, which its end has raised; NO_EPOCH if no end has.

    A client that has not got the answer still names it.
    """
    if known.status not in COMPLETED or not known.bumps_epochs:
        return NO_EPOCH
    if known.producer_epoch > 0:
        return known.producer_epoch - 1
    return EPOCH_MAX - 1 if known.previous_producer_id != known.producer_id else NO_EPOCH
