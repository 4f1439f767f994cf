"""AddPartitionsToTxn (24), versions 0-3: a transaction is about to write to these partitions.

All or nothing: one unknown partition and none is added. Left out: batches and verification
between brokers (v4 and later).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kmirror.cluster.coordinators.transaction_state import PREPARING, Status, Transaction
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.add_partitions_to_txn_request import AddPartitionsToTxnRequest
from kmirror.protocol.gen.add_partitions_to_txn_response import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from kmirror.cluster.coordinators.transactions import TransactionCoordinator


def producer_error(known: Transaction | None, producer_id: int, producer_epoch: int, version: int) -> ErrorCode:
    """Return why a producer does not own the transactional id any more, or NONE."""
    if known is None or known.producer_id != producer_id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if known.producer_epoch != producer_epoch:
        # KIP-588 gave fencing a code of its own; older clients know only the epoch's.
        return ErrorCode.PRODUCER_FENCED if version >= 2 else ErrorCode.INVALID_PRODUCER_EPOCH
    return ErrorCode.NONE


def handle(coordinator: TransactionCoordinator, now: Instant, inbound: Inbound) -> None:
    request = inbound.body
    assert isinstance(request, AddPartitionsToTxnRequest)
    name = request.v3_and_below_transactional_id
    wanted = [
        TopicPartition(topic.name, index) for topic in request.v3_and_below_topics for index in topic.partitions
    ]
    if not name:
        _answer(inbound, dict.fromkeys(wanted, ErrorCode.INVALID_REQUEST))
        return
    if coordinator.runtime.state(coordinator.shard_of(name)) is None:
        _answer(inbound, dict.fromkeys(wanted, ErrorCode.NOT_COORDINATOR))
        return
    known = coordinator.find(name)
    error = producer_error(
        known, request.v3_and_below_producer_id, request.v3_and_below_producer_epoch, inbound.version
    )
    if error or known is None:
        _answer(inbound, dict.fromkeys(wanted, error))
        return
    if known.status in PREPARING:
        _answer(inbound, dict.fromkeys(wanted, ErrorCode.CONCURRENT_TRANSACTIONS))
        return
    unknown = [tp for tp in wanted if coordinator.broker.image.partition(tp) is None]
    if unknown:
        errors = dict.fromkeys(wanted, ErrorCode.OPERATION_NOT_ATTEMPTED)
        errors.update(dict.fromkeys(unknown, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
        _answer(inbound, errors)
        return
    ongoing = known.status is Status.ONGOING
    partitions = tuple(dict.fromkeys((*(known.partitions if ongoing else ()), *wanted)))
    if ongoing and partitions == known.partitions:
        _answer(inbound, dict.fromkeys(wanted, ErrorCode.NONE))
        return
    after = replace(
        known, status=Status.ONGOING, partitions=partitions, updated_ms=to_ms(now),
        started_ms=known.started_ms if ongoing else to_ms(now),
    )

    def on_done(_: Instant, error: ErrorCode) -> None:
        _answer(inbound, dict.fromkeys(wanted, error))

    coordinator.write(now, known, after, on_done)


def _answer(inbound: Inbound, errors: dict[TopicPartition, ErrorCode]) -> None:
    topics: dict[str, AddPartitionsToTxnTopicResult] = {}
    for tp, error in errors.items():
        topic = topics.setdefault(tp.topic, AddPartitionsToTxnTopicResult(name=tp.topic, results_by_partition=[]))
        topic.results_by_partition.append(
            AddPartitionsToTxnPartitionResult(partition_index=tp.partition, partition_error_code=error)
        )
    inbound.reply(AddPartitionsToTxnResponse(results_by_topic_v3_and_below=list(topics.values())))
