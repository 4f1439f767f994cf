"""AddPartitionsToTxn, versions 0-5: add the partitions that a transaction will write to.

If one partition is unknown or not authorized, none is added. From version 4 on brokers send it, for several
transactions at once, and may only verify that partitions have been added (KIP-890).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kmirror.cluster.authorizer import Resource, Rights
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.coordinators.transactions.state import PREPARING, Status, Transaction
from kmirror.cluster.coordinators.transactions.transitions import with_partitions
from kmirror.cluster.server import Inbound, PendingResponse
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest, AddPartitionsToTxnTransaction
from kmirror.protocol.gen.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.features import EPOCH_BUMPS_FROM
from kmirror.spec.topics import is_internal
from kmirror.spec.wire_values import AclOperation

BATCHED_FROM = 4

Errors = Mapping[TopicPartition, ErrorCode]


def producer_error(known: Transaction | None, producer_id: int, producer_epoch: int, version: int) -> ErrorCode:
    """Return NONE if the producer owns the transactional id, else the error in `version`."""
    if known is None or known.producer_id != producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if known.producer_epoch != producer_epoch:
        # KIP-588 introduced PRODUCER_FENCED; older clients get INVALID_PRODUCER_EPOCH.
        return ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    return ErrorCode.NONE


def handle(coordinator: TransactionCoordinator, now: Instant, inbound: Inbound[AddPartitionsToTxnRequest]) -> None:
    """Add the partitions, and respond with an error for each once the transaction is persisted."""
    request = inbound.body
    if inbound.version >= BATCHED_FROM:
        _handle_batch(coordinator, now, inbound, request)
        return
    requested = AddPartitionsToTxnTransaction(
        transactional_id=request.v3_and_below_transactional_id,
        producer_id=request.v3_and_below_producer_id,
        producer_epoch=request.v3_and_below_producer_epoch,
        topics=request.v3_and_below_topics,
    )

    @inbound.guard
    def on_done(errors: Errors) -> None:
        inbound.reply(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_in_request_order(requested, errors)))

    rejected = _denied_errors(coordinator, inbound.rights, requested) or _unknown_errors(coordinator, requested)
    if rejected:
        inbound.reply(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_rows(rejected)))
    else:
        add(coordinator, now, requested, inbound.version, on_done)


def _denied_errors(
    coordinator: TransactionCoordinator, rights: Rights, requested: AddPartitionsToTxnTransaction
) -> Errors:
    """Return an error for each partition if the client may not write to all of them, else nothing.

    Partitions of internal topics are always denied.
    """
    partitions = _partitions(requested)
    error = rights.error(AclOperation.WRITE, Resource.transactional_id(requested.transactional_id))
    if error:
        return dict.fromkeys(partitions, error)
    topics = dict.fromkeys(tp.topic for tp in partitions)
    denied = dict(rights.denied_topics(AclOperation.WRITE, [name for name in topics if not is_internal(name)]))
    denied.update({name: ErrorCode.TOPIC_AUTHORIZATION_FAILED for name in topics if is_internal(name)})
    if not denied:
        return {}
    known = coordinator.context.image.topics.partition
    missing, rest = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED
    return {tp: denied.get(tp.topic) or (missing if known(tp) is None else rest) for tp in partitions}


def _unknown_errors(coordinator: TransactionCoordinator, requested: AddPartitionsToTxnTransaction) -> Errors:
    """Return an error for each partition if one of them does not exist, else nothing."""
    partitions = _partitions(requested)
    unknown = [tp for tp in partitions if coordinator.context.image.topics.partition(tp) is None]
    if not unknown:
        return {}
    errors = dict.fromkeys(partitions, ErrorCode.OPERATION_NOT_ATTEMPTED)
    errors.update(dict.fromkeys(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
    return errors


def _handle_batch(
    coordinator: TransactionCoordinator, now: Instant, inbound: Inbound[Message], request: AddPartitionsToTxnRequest
) -> None:
    response = AddPartitionsToTxnResponse()
    pending = PendingResponse(inbound, response)

    for requested in request.transactions:
        result = AddPartitionsToTxnResult(transactional_id=requested.transactional_id)
        response.results_by_transaction.append(result)

        @pending.row
        def on_done(
            errors: Errors,
            result: AddPartitionsToTxnResult = result,
            requested: AddPartitionsToTxnTransaction = requested,
            is_added: bool = True,
        ) -> None:
            result.topic_results = _in_request_order(requested, errors) if is_added else _rows(errors)

        if unknown := _unknown_errors(coordinator, requested):
            on_done(unknown, is_added=False)
        elif requested.verify_only:
            on_done(_verification_errors(coordinator, requested, inbound.version), is_added=False)
        else:  # A leader adds partitions only for a client that knows transaction.version 2.
            add(coordinator, now, requested, inbound.version, on_done, client_version=EPOCH_BUMPS_FROM)
    pending.end()


def _verification_errors(
    coordinator: TransactionCoordinator, requested: AddPartitionsToTxnTransaction, version: int
) -> Errors:
    """Return NONE for each partition that is in the open transaction, else TRANSACTION_ABORTABLE (KIP-890)."""
    partitions = _partitions(requested)
    known, error = _find(coordinator, requested, version)
    if error or known is None:
        return dict.fromkeys(partitions, error)
    missing = ErrorCode.TRANSACTION_ABORTABLE
    return {tp: ErrorCode.NONE if tp in known.partitions else missing for tp in partitions}


def _find(
    coordinator: TransactionCoordinator, requested: AddPartitionsToTxnTransaction, version: int
) -> tuple[Transaction | None, ErrorCode]:
    """Return the transaction and NONE, or an error if the producer does not own the id or its transaction is ending."""
    name = requested.transactional_id
    if not name:
        return None, ErrorCode.INVALID_REQUEST
    # A verification uses the committed state, even while a change is in progress: the append makes the final check.
    shard = coordinator.shard_of(name)
    unavailable = coordinator.runtime.error(shard) if requested.verify_only else coordinator.error(name)
    if unavailable:
        return None, unavailable
    known = coordinator.find(name)
    error = producer_error(known, requested.producer_id, requested.producer_epoch, version)
    if not error and known is not None and known.status in PREPARING:
        error = ErrorCode.CONCURRENT_TRANSACTIONS
    return known, error


def add(
    coordinator: TransactionCoordinator,
    now: Instant,
    requested: AddPartitionsToTxnTransaction,
    version: int,
    on_done: Callable[[Errors], None],
    *,
    client_version: int = 0,
) -> None:
    """Add partitions to the open transaction, or begin one with them; call `on_done` with an error for each.

    `client_version` is the transaction.version that the client follows.
    """
    partitions = _partitions(requested)
    known, error = _find(coordinator, requested, version)
    if error or known is None:
        on_done(dict.fromkeys(partitions, error))
        return
    if known.status is Status.ONGOING and set(known.partitions).issuperset(partitions):
        on_done(dict.fromkeys(partitions, ErrorCode.NONE))
        return
    after = with_partitions(known, tuple(partitions), client_version=client_version, now_ms=to_ms(now))
    coordinator.write(known, after, lambda _, error: on_done(dict.fromkeys(partitions, error)))


def _partitions(requested: AddPartitionsToTxnTransaction) -> list[TopicPartition]:
    return [TopicPartition(topic.name, index) for topic in requested.topics for index in topic.partitions]


def _in_request_order(requested: AddPartitionsToTxnTransaction, errors: Errors) -> list[AddPartitionsToTxnTopicResult]:
    """Return a result for each requested row, including duplicates and topics without partitions, like Kafka."""
    found = []
    for topic in requested.topics:
        rows = [
            AddPartitionsToTxnPartitionResult(
                partition_index=index, partition_error_code=errors[TopicPartition(topic.name, index)]
            )
            for index in topic.partitions
        ]
        found.append(AddPartitionsToTxnTopicResult(name=topic.name, results_by_partition=rows))
    return found


def _rows(errors: Errors) -> list[AddPartitionsToTxnTopicResult]:
    topics: dict[str, AddPartitionsToTxnTopicResult] = {}
    for tp, error in errors.items():
        topic = topics.setdefault(tp.topic, AddPartitionsToTxnTopicResult(name=tp.topic, results_by_partition=[]))
        topic.results_by_partition.append(
            AddPartitionsToTxnPartitionResult(partition_index=tp.partition, partition_error_code=error)
        )
    return list(topics.values())
