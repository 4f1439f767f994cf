"""OffsetForLeaderEpoch, versions 2-4: the end offset of a leader epoch in this leader's log (KIP-101, KIP-320).

The response has the largest epoch not above the requested one, and its end offset (exclusive); -1 and -1 if there is
none. Consumers and followers are served from the same log.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.replication.fetch_read import replica_error
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
)
from kmirror.protocol.gen.offset_for_leader_epoch_response import (
    EpochEndOffset,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderTopicResult,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[OffsetForLeaderEpochRequest]) -> None:
    """Reply with (leader epoch, end offset) of each partition, or an error."""
    request = inbound.body
    names = () if inbound.rights.allow(AclOperation.CLUSTER_ACTION, CLUSTER) else [t.topic for t in request.topics]
    denied = inbound.rights.denied_topics(AclOperation.DESCRIBE, names)

    def result(topic: str, requested: OffsetForLeaderPartition) -> EpochEndOffset:
        if topic in denied:
            return EpochEndOffset(partition=requested.partition, error_code=denied[topic])
        return _end_offset(parts, topic, requested)

    inbound.reply(
        OffsetForLeaderEpochResponse(
            topics=[
                OffsetForLeaderTopicResult(
                    topic=topic.topic,
                    partitions=[result(topic.topic, requested) for requested in topic.partitions],
                )
                for topic in request.topics
            ]
        )
    )


def _end_offset(parts: BrokerParts, topic: str, requested: OffsetForLeaderPartition) -> EpochEndOffset:
    tp = TopicPartition(topic, requested.partition)
    result = EpochEndOffset(partition=requested.partition)
    partition = parts.replicas.partitions.get(tp)
    if partition is None:
        result.error_code = parts.replicas.partitions.not_led_error(tp)
        return result
    result.error_code = replica_error(partition, requested.current_leader_epoch, leader_only=True)
    if result.error_code:
        return result
    if parts.components.withholds_log(partition):
        result.error_code = ErrorCode.OFFSET_NOT_AVAILABLE
    else:
        result.leader_epoch, result.end_offset = partition.log.end_offset_for_epoch(requested.leader_epoch)
    return result
