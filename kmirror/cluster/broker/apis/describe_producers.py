"""DescribeProducers, version 0: the producer states in this broker's logs (KIP-664).

A follower responds like the leader.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.describe_producers_request import DescribeProducersRequest
from kmirror.protocol.gen.describe_producers_response import (
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import problem_with_name
from kmirror.spec.wire_values import AclOperation


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[DescribeProducersRequest]) -> None:
    """Reply with the producers of each partition, or an error."""
    request = inbound.body
    response = DescribeProducersResponse(topics=[])
    for topic in request.topics:
        error, message = _topic_error(parts, inbound, topic.name)
        rows = [
            PartitionResponse(index, error, message) if error else _describe(parts, TopicPartition(topic.name, index))
            for index in topic.partition_indexes
        ]
        response.topics.append(TopicResponse(name=topic.name, partitions=rows))
    inbound.reply(response)


def _topic_error(parts: BrokerParts, inbound: Inbound[Message], name: str) -> tuple[ErrorCode, str | None]:
    problem = problem_with_name(name)
    if problem is not None:
        return ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {problem}"
    error = inbound.rights.error(AclOperation.READ, Resource.topic(name))
    if not error and name not in parts.context.image.topics:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return error, error.text if error else None


def _describe(parts: BrokerParts, tp: TopicPartition) -> PartitionResponse:
    partition = parts.replicas.partitions.get(tp)
    row = PartitionResponse(partition_index=tp.partition)
    if partition is None:
        row.error_code = parts.replicas.partitions.not_led_error(tp)
        return row
    row.active_producers = [
        ProducerState(
            producer_id=entry.producer_id,
            producer_epoch=entry.producer_epoch,
            last_sequence=entry.last_sequence,
            last_timestamp=entry.last_timestamp,
            coordinator_epoch=entry.coordinator_epoch,
            current_txn_start_offset=entry.txn_first_offset,
        )
        for entry in partition.log.producers.entries.values()
    ]
    return row
