"""OffsetCommit, versions 2-10: a member, or anybody while the group has no members, commits offsets.

Versions 2-4 may name a retention time, which the record then carries; 6 brought leader epochs, 7 static members, 10
topic ids. The answer goes out once the records are committed (D48).
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.coordinators.groups.apis.topic_errors import AskedTopic, TopicErrors, merged, sort_out
from kmirror.cluster.coordinators.groups.commits import commit_error, fits, partition_key
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.offsets import NOT_SET, Committed
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant, to_ms
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest, OffsetCommitRequestPartition
from kmirror.protocol.gen.offset_commit_response import (
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

IDS_FROM = 10
"""First version that names topics by their ids."""

Asked = list[AskedTopic[OffsetCommitRequestPartition]]


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound) -> None:
    """Commit, and answer with an error for each partition."""
    request = inbound.body
    assert isinstance(request, OffsetCommitRequest)
    asked = _asked(coordinator, request, by_id=inbound.version >= IDS_FROM)
    denied = inbound.rights.error(AclOperation.READ, Resource.group(request.group_id))
    if denied:
        _reply(inbound, [topic.errors(denied) for topic in asked])
        return
    refused, accepted = _sort_out(coordinator, inbound, asked)
    if not accepted:
        _reply(inbound, refused)
        return
    decided: list[TopicErrors] = []

    def decide(shard: GroupShard) -> tuple[Sequence[KeyValue], ErrorCode]:
        error = coordinator.error(request.group_id)
        error = error or commit_error(coordinator.find(request.group_id), request, inbound.version)
        decided.clear()
        if error:
            return (), error
        coordinator.keep_alive(now, request.group_id, request.member_id)
        records: list[KeyValue] = []
        for topic in accepted:
            errors = TopicErrors(topic.name, topic.topic_id, [])
            decided.append(errors)
            for partition in topic.partitions:
                is_good = fits(partition.committed_metadata, coordinator.context.configs)
                error = ErrorCode.NONE if is_good else ErrorCode.OFFSET_METADATA_TOO_LARGE
                errors.rows.append((partition.partition_index, error))
                if is_good:
                    value = _committed(now, request, topic.topic_id, partition)
                    key = partition_key(request.group_id, topic.name, partition.partition_index)
                    records.append(value.record(key))
        return records, ErrorCode.NONE

    @inbound.guard
    def on_done(_: Instant, error: ErrorCode) -> None:
        rows = [topic.errors(error) for topic in accepted] if error else decided
        _reply(inbound, merged(refused, rows))

    coordinator.write(request.group_id, decide, on_done)


def _asked(coordinator: GroupCoordinator, request: OffsetCommitRequest, *, by_id: bool) -> Asked:
    image = coordinator.context.image
    asked: Asked = []
    for topic in request.topics:
        if by_id:
            name, topic_id = image.topic_names.get(topic.topic_id, ""), topic.topic_id
        else:
            known = image.topics.get(topic.name)
            name, topic_id = topic.name, Uuid.ZERO if known is None else known.topic_id
        asked.append(AskedTopic(name, topic_id, topic.partitions))
    return asked


def _sort_out(coordinator: GroupCoordinator, inbound: Inbound, asked: Asked) -> tuple[list[TopicErrors], Asked]:
    by_id = inbound.version >= IDS_FROM
    names = [topic.name for topic in asked if topic.name or not by_id]
    denied = dict(inbound.rights.denied_topics(AclOperation.READ, names))
    if by_id:
        denied[""] = ErrorCode.UNKNOWN_TOPIC_ID
    return sort_out(coordinator.context.image, asked, denied)


def _committed(
    now: Instant, request: OffsetCommitRequest, topic_id: Uuid, partition: OffsetCommitRequestPartition
) -> Committed:
    retention_ms = request.retention_time_ms
    return Committed(
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        to_ms(now),
        NOT_SET if retention_ms == NOT_SET else to_ms(now) + retention_ms,
        topic_id,
    )


def _reply(inbound: Inbound, topics: list[TopicErrors]) -> None:
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
