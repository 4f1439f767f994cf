"""BumpLeaderEpochs, decided by the controller: raises leader epochs to at least the requested ones (D14, D15).

The leader stays, its epoch rises. A PartitionChangeRecord can raise it only by one, so a whole PartitionRecord is
written. If the epoch is already high enough, the request succeeds and changes nothing.
"""

from __future__ import annotations

from dataclasses import replace

from kmirror.cluster.authorizer import Rights
from kmirror.cluster.controller.context import ControllerContext
from kmirror.cluster.controller.decisions import Decision
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.bump_leader_epochs_request import BumpLeaderEpochsRequest
from kmirror.protocol.gen.bump_leader_epochs_response import (
    BumpLeaderEpochsResponse,
    PartitionDetail,
    TopicPartitions,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

EPOCH_MAX = 0x7FFFFFFF - 1000
"""The highest epoch that may be requested; later elections need room above it."""


def decide(
    context: ControllerContext, now: Instant, request: BumpLeaderEpochsRequest, version: int, rights: Rights
) -> Decision:
    """Return the records that raise epochs, and each partition's error.

    UNKNOWN_TOPIC_ID, UNKNOWN_TOPIC_OR_PARTITION, or INVALID_REQUEST above EPOCH_MAX.
    """
    records: list[Message] = []
    response = BumpLeaderEpochsResponse()
    for topic in request.topics:
        name = context.image.topics.names.get(topic.topic_id)
        result = TopicPartitions(topic_id=topic.topic_id, topic_name=name or "")
        response.topics.append(result)
        for requested in topic.partitions:
            row = PartitionDetail(partition_index=requested.partition_index)
            result.partitions.append(row)
            image = None if name is None else context.image.topics[name].partitions.get(requested.partition_index)
            if name is None:
                row.error_code = ErrorCode.UNKNOWN_TOPIC_ID
            elif image is None:
                row.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            elif requested.min_leader_epoch > EPOCH_MAX:
                row.error_code = ErrorCode.INVALID_REQUEST
            elif image.leader_epoch < requested.min_leader_epoch:
                change = replace(
                    image, leader_epoch=requested.min_leader_epoch, partition_epoch=image.partition_epoch + 1
                )
                records.append(change.record(topic.topic_id, requested.partition_index))
    return Decision(records, response, atomic=False)
