"""DescribeQuorum, versions 0-2: the leader and high watermark of `__cluster_metadata` (KIP-595, KIP-836).

Brokers forward the request, so the response is always the controller's. Not implemented: observers, and the endpoints
of controllers.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import CLUSTER, Rights, kafka_error_response
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant, to_ms
from kmirror.protocol.gen.describe_quorum_request import DescribeQuorumRequest
from kmirror.protocol.gen.describe_quorum_response import (
    DescribeQuorumResponse,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import METADATA_TOPIC
from kmirror.spec.wire_values import AclOperation


def decide(
    context: ControllerContext, now: Instant, request: DescribeQuorumRequest, version: int, rights: Rights
) -> Decision:
    """Return the state of the quorum; UNKNOWN_TOPIC_OR_PARTITION unless only its partition is requested.

    Clients that may not describe the cluster are rejected.
    """
    denied = rights.error(AclOperation.DESCRIBE, CLUSTER)
    if denied:
        return Decision((), kafka_error_response(request, version, denied))
    requested = [(topic.topic_name, row.partition_index) for topic in request.topics for row in topic.partitions]
    if len(request.topics) != 1 or requested != [(METADATA_TOPIC, 0)]:
        return Decision((), _unknown_partitions_response(request))
    quorum, now_ms = context.quorum, to_ms(now)
    current_leader = quorum.leader
    leader = ReplicaState(
        replica_id=current_leader.leader_id,
        log_end_offset=quorum.end_offset,
        last_fetch_timestamp=now_ms,
        last_caught_up_timestamp=now_ms,
    )
    partition = PartitionData(
        error_message=None,
        leader_id=current_leader.leader_id,
        leader_epoch=current_leader.epoch,
        high_watermark=quorum.committed_end,
        current_voters=[leader],
    )
    response = DescribeQuorumResponse(
        error_message=None, topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])]
    )
    if version >= 2:
        response.nodes = [Node(node_id=current_leader.leader_id)]
    return Decision((), response)


def _unknown_partitions_response(request: DescribeQuorumRequest) -> DescribeQuorumResponse:
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return DescribeQuorumResponse(
        error_message=None,
        topics=[
            TopicData(
                topic_name=topic.topic_name,
                partitions=[
                    PartitionData(partition_index=row.partition_index, error_code=error, error_message=error.text)
                    for row in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )
