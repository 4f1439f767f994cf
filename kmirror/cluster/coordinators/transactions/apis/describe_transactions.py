"""DescribeTransactions, version 0: the state of transactional ids of this coordinator (KIP-664)."""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.transactions.coordinator import TransactionCoordinator
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.describe_transactions_request import DescribeTransactionsRequest
from kmirror.protocol.gen.describe_transactions_response import (
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(coordinator: TransactionCoordinator, now: Instant, inbound: Inbound[DescribeTransactionsRequest]) -> None:
    """Respond with the committed state of each id, and the partitions that the client may describe."""
    request = inbound.body
    rows = [_describe(coordinator, inbound, name) for name in request.transactional_ids]
    inbound.reply(DescribeTransactionsResponse(transaction_states=rows))


def _describe(coordinator: TransactionCoordinator, inbound: Inbound[Message], name: str) -> TransactionState:
    row = TransactionState(transactional_id=name)
    denied = inbound.rights.error(AclOperation.DESCRIBE, Resource.transactional_id(name))
    error = denied or (coordinator.runtime.error(coordinator.shard_of(name)) if name else ErrorCode.INVALID_REQUEST)
    found = None if error else coordinator.find(name)
    if found is None:
        row.error_code = error or ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        return row
    row.producer_id, row.producer_epoch = found.producer_id, found.producer_epoch
    row.transaction_state = found.status.display_name
    row.transaction_timeout_ms, row.transaction_start_time_ms = found.timeout_ms, found.started_ms
    hidden = inbound.rights.denied_topics(AclOperation.DESCRIBE, [tp.topic for tp in found.partitions])
    topics: dict[str, TopicData] = {}
    for tp in found.partitions:
        if tp.topic not in hidden:
            topics.setdefault(tp.topic, TopicData(topic=tp.topic, partitions=[])).partitions.append(tp.partition)
    row.topics = list(topics.values())
    return row
