"""OffsetDelete, version 0: an administrator removes committed offsets.

If the group has members, it must be a consumer group, and no member may read the topic.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.groups.commits import Deletion
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.topic_errors import RequestedTopic, TopicErrors, check_topics, merge_errors
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.offset_delete_request import OffsetDeleteRequest
from kmirror.protocol.gen.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[OffsetDeleteRequest]) -> None:
    """Remove offsets, and respond with an error for the group or for each partition."""
    request = inbound.body
    denied = inbound.rights.error(AclOperation.DELETE, Resource.group(request.group_id))
    if denied or not request.group_id:
        _reject(inbound, denied or ErrorCode.INVALID_GROUP_ID)
        return
    requested = [RequestedTopic(topic.name, Uuid.ZERO, topic.partitions) for topic in request.topics]
    topics_denied = inbound.rights.denied_topics(AclOperation.READ, [topic.name for topic in requested])
    rejected, accepted = check_topics(coordinator.context.image, requested, topics_denied)
    deletion = Deletion(coordinator, request.group_id, accepted)

    @inbound.guard
    def on_done(_: Instant, error: ErrorCode) -> None:
        if error:
            _reject(inbound, error)
        else:
            _reply(inbound, merge_errors(rejected, deletion.results))

    coordinator.write(request.group_id, deletion.decide, on_done)


def _reject(inbound: Inbound[Message], error: ErrorCode) -> None:
    inbound.reply(OffsetDeleteResponse(error_code=error, topics=[]))


def _reply(inbound: Inbound[Message], topics: list[TopicErrors]) -> None:
    rows = [
        OffsetDeleteResponseTopic(
            name=topic.name,
            partitions=[
                OffsetDeleteResponsePartition(partition_index=index, error_code=error) for index, error in topic.rows
            ],
        )
        for topic in topics
    ]
    inbound.reply(OffsetDeleteResponse(topics=rows))
