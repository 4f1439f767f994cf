"""OffsetCommit, versions 2-10: commit the offsets of a group.

Any client may commit while the group has no members, else only a member. Versions 2-4 may set a retention time, which
is stored in the record; 6 adds leader epochs, 7 static members, 10 topic ids. The response is sent once the records are
committed (D48).

A component may check the commits of a client: a mirror's sync must not overwrite offsets that were committed here after
a failover (D17). The check comes first, and an offset that another client commits meanwhile is kept.
"""

from __future__ import annotations

from collections.abc import Mapping

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.coordinators.groups.commits import CheckedCommit, PlainCommit
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.topic_errors import RequestedTopic, TopicErrors, check_topics, merge_errors
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest, OffsetCommitRequestPartition
from kmirror.protocol.gen.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

IDS_FROM = 10
"""First version with topic ids instead of names."""

RequestedTopics = list[RequestedTopic[OffsetCommitRequestPartition]]


def handle(
    coordinator: GroupCoordinator, parts: BrokerParts, now: Instant, inbound: Inbound[OffsetCommitRequest]
) -> None:
    """Commit the offsets, and respond with an error for each partition."""
    request = inbound.body
    requested = _requested_topics(coordinator, request, by_id=inbound.version >= IDS_FROM)
    denied = inbound.rights.error(AclOperation.READ, Resource.group(request.group_id))
    if denied:
        _reply(inbound, [topic.errors(denied) for topic in requested])
        return
    rejected, accepted = _check_topics(coordinator, inbound, requested)
    if not accepted:
        _reply(inbound, rejected)
        return

    def write(commit: PlainCommit) -> None:
        @inbound.guard
        def on_done(_: Instant, error: ErrorCode) -> None:
            _reply(inbound, merge_errors(rejected, commit.rows(error)))

        coordinator.write(request.group_id, commit.decide, on_done)

    partitions = [TopicPartition(topic.name, one.partition_index) for topic in accepted for one in topic.partitions]
    check = parts.components.commit_check(inbound.head.client_id or "")
    if check is None:
        write(PlainCommit(coordinator, now, request, inbound.version, accepted))
        return
    checked = CheckedCommit(coordinator, now, request, inbound.version, accepted)

    @inbound.guard
    def on_checked(_: Instant, errors: Mapping[TopicPartition, ErrorCode]) -> None:
        checked.errors = errors
        write(checked)

    check(partitions, on_checked)


def _requested_topics(coordinator: GroupCoordinator, request: OffsetCommitRequest, *, by_id: bool) -> RequestedTopics:
    image = coordinator.context.image
    requested: RequestedTopics = []
    for topic in request.topics:
        if by_id:
            name, topic_id = image.topics.names.get(topic.topic_id, ""), topic.topic_id
        else:
            known = image.topics.get(topic.name)
            name, topic_id = topic.name, Uuid.ZERO if known is None else known.topic_id
        requested.append(RequestedTopic(name, topic_id, topic.partitions))
    return requested


def _check_topics(
    coordinator: GroupCoordinator, inbound: Inbound[Message], requested: RequestedTopics
) -> tuple[list[TopicErrors], RequestedTopics]:
    by_id = inbound.version >= IDS_FROM
    names = [topic.name for topic in requested if topic.name or not by_id]
    denied = dict(inbound.rights.denied_topics(AclOperation.READ, names))
    if by_id:
        denied[""] = ErrorCode.UNKNOWN_TOPIC_ID
    return check_topics(coordinator.context.image, requested, denied)


def _reply(inbound: Inbound[Message], topics: list[TopicErrors]) -> None:
    rows = [
        OffsetCommitResponseTopic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                OffsetCommitResponsePartition(partition_index=index, error_code=error) for index, error in topic.rows
            ],
        )
        for topic in topics
    ]
    inbound.reply(OffsetCommitResponse(topics=rows))
