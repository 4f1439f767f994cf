"""OffsetFetch, versions 1-10: the committed offsets of groups.

Version 2 adds all topics (a null list), 7 RequireStable, 8 several groups, 10 topic ids. The response has the offsets
committed below the high watermark. With RequireStable it has those at the log end, and waits until they are committed;
a partition with a pending transactional offset gets UNSTABLE_OFFSET_COMMIT. An unknown group has no offsets, which is
not an error. Not implemented: members of the consumer protocol (KIP-848), whose id and epoch are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kmirror.cluster.authorizer import Resource, Rights
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.offsets import NOT_SET, Committed, OffsetKey, Offsets
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.server import Inbound, PendingResponse
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.offset_fetch_request import OffsetFetchRequest
from kmirror.protocol.gen.offset_fetch_response import (
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import AclOperation

GROUPS_FROM = 8
"""First version with several groups."""
IDS_FROM = 10
"""First version with topic ids instead of names."""
GROUP_ERRORS_FROM = 2
"""First version with an error for the group; in earlier ones each partition has the error."""
STABLE_ERRORS = {ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.NOT_COORDINATOR}
"""Consumers before Kafka 3.9 do not expect the first error; the second makes them look for the coordinator."""

OnRow = Callable[[OffsetFetchResponseGroup], None]


class RequestedTopic(NamedTuple):
    """One topic of a request."""

    name: str
    """"" if the request has an unknown topic id."""
    topic_id: Uuid
    """ZERO in versions with names."""
    partitions: Sequence[int]


@dataclass(frozen=True, slots=True)
class GroupRequest:
    """The part of a request for one group."""

    group_id: str
    topics: Sequence[RequestedTopic] | None
    """None for all topics with committed offsets."""
    version: int
    is_stable: bool

    def error(self, error: ErrorCode) -> OffsetFetchResponseGroup:
        """Return the response with `error` for the whole group."""
        if self.version >= GROUP_ERRORS_FROM:
            return OffsetFetchResponseGroup(group_id=self.group_id, topics=[], error_code=error)
        return OffsetFetchResponseGroup(
            group_id=self.group_id, topics=[_topic_error(t, error) for t in self.topics or ()]
        )


@dataclass(frozen=True, slots=True)
class OffsetsView:
    """A group's offsets: at the log end if they must be stable, else below the high watermark."""

    offsets: Offsets
    is_stable: bool

    def row(self, key: OffsetKey, topic_id: Uuid) -> OffsetFetchResponsePartitions:
        """Return the row of `key` for the topic with this id; ZERO matches any."""
        if self.is_stable and self.offsets.producers(key):
            return _row(key.tp.partition, None, ErrorCode.UNSTABLE_OFFSET_COMMIT)
        found = self._find(key)
        return _row(key.tp.partition, found if found is not None and found.is_about(topic_id) else None)

    def all(self, group_id: str) -> list[OffsetFetchResponseTopics]:
        """Return all topics and partitions with committed offsets of the group."""
        topics: dict[str, OffsetFetchResponseTopics] = {}
        for key in self.offsets.keys(group_id):
            if self._find(key) is not None:
                topic = topics.get(key.tp.topic)
                if topic is None:
                    topic = topics[key.tp.topic] = OffsetFetchResponseTopics(name=key.tp.topic, partitions=[])
                topic.partitions.append(self.row(key, Uuid.ZERO))
        return list(topics.values())

    def _find(self, key: OffsetKey) -> Committed | None:
        return self.offsets.latest(key) if self.is_stable else self.offsets.committed(key)


def handle(coordinator: GroupCoordinator, now: Instant, inbound: Inbound[OffsetFetchRequest]) -> None:
    """Handle each group separately; respond once all returned offsets are committed."""
    request = inbound.body
    if inbound.version < GROUPS_FROM:
        requested_topics = (
            None if request.topics is None else [(t.name, Uuid.ZERO, t.partition_indexes) for t in request.topics]
        )
        group_request = _group_request(coordinator, inbound, request.group_id, requested_topics)

        @inbound.guard
        def on_row(row: OffsetFetchResponseGroup) -> None:
            topics = [_to_v7_topic(topic) for topic in row.topics]
            inbound.reply(OffsetFetchResponse(topics=topics, error_code=row.error_code))

        _fetch(coordinator, inbound.rights, group_request, on_row)
        return
    response = OffsetFetchResponse(groups=[OffsetFetchResponseGroup() for _ in request.groups])
    pending = PendingResponse(inbound, response)
    for position, group in enumerate(request.groups):
        requested = None if group.topics is None else [(t.name, t.topic_id, t.partition_indexes) for t in group.topics]

        @pending.row
        def on_group(row: OffsetFetchResponseGroup, position: int = position) -> None:
            response.groups[position] = row

        _fetch(coordinator, inbound.rights, _group_request(coordinator, inbound, group.group_id, requested), on_group)
    pending.end()


def _group_request(
    coordinator: GroupCoordinator,
    inbound: Inbound[OffsetFetchRequest],
    group_id: str,
    topics: Iterable[tuple[str, Uuid, Sequence[int]]] | None,
) -> GroupRequest:
    request, version = inbound.body, inbound.version
    requested = None
    if topics is not None:
        names = coordinator.context.image.topics.names
        by_id = version >= IDS_FROM
        requested = [
            RequestedTopic(names.get(topic_id, "") if by_id else name, topic_id, rows)
            for name, topic_id, rows in topics
        ]
    return GroupRequest(group_id, requested, version, request.require_stable)


def _fetch(coordinator: GroupCoordinator, rights: Rights, group_request: GroupRequest, on_row: OnRow) -> None:
    denied = rights.error(AclOperation.DESCRIBE, Resource.group(group_request.group_id))
    if denied:
        on_row(group_request.error(denied))
        return

    denied_topics = _denied_topics(rights, group_request)

    def read_topics(view: OffsetsView) -> list[OffsetFetchResponseTopics]:
        if group_request.topics is None:
            return _all_offsets(coordinator, rights, group_request, view)
        return _requested_offsets(group_request.group_id, group_request.topics, denied_topics, view)

    if not group_request.is_stable:
        shard = coordinator.runtime.state(coordinator.shard_of(group_request.group_id))
        if shard is None:
            on_row(group_request.error(coordinator.error(group_request.group_id)))
        else:
            topics = read_topics(OffsetsView(shard.offsets, is_stable=False))
            on_row(OffsetFetchResponseGroup(group_id=group_request.group_id, topics=topics))
        return
    row = OffsetFetchResponseGroup(group_id=group_request.group_id)

    def read(shard: GroupShard) -> tuple[Sequence[KeyValue], ErrorCode]:
        row.topics = read_topics(OffsetsView(shard.offsets, is_stable=True))
        return (), ErrorCode.NONE

    def on_done(_: Instant, error: ErrorCode) -> None:
        on_row(group_request.error(STABLE_ERRORS.get(error, error)) if error else row)

    coordinator.write(group_request.group_id, read, on_done)


def _denied_topics(rights: Rights, group_request: GroupRequest) -> Mapping[str, ErrorCode]:
    """Return the errors of the topics that must not be shown, by name."""
    by_id = group_request.version >= IDS_FROM
    names = [topic.name for topic in group_request.topics or () if topic.name or not by_id]
    denied_topics = dict(rights.denied_topics(AclOperation.DESCRIBE, names))
    if by_id:
        denied_topics[""] = ErrorCode.UNKNOWN_TOPIC_ID
    return denied_topics


def _requested_offsets(
    group_id: str, requested: Sequence[RequestedTopic], denied_topics: Mapping[str, ErrorCode], view: OffsetsView
) -> list[OffsetFetchResponseTopics]:
    """Return the requested topics; those in `denied_topics` come last, with their errors."""
    found, rejected = [], []
    for topic in requested:
        error = denied_topics.get(topic.name)
        if error is not None:
            rejected.append(_topic_error(topic, error))
            continue
        rows = [
            view.row(OffsetKey(group_id, TopicPartition(topic.name, index)), topic.topic_id)
            for index in topic.partitions
        ]
        found.append(OffsetFetchResponseTopics(name=topic.name, topic_id=topic.topic_id, partitions=rows))
    return found + rejected


def _all_offsets(
    coordinator: GroupCoordinator, rights: Rights, group_request: GroupRequest, view: OffsetsView
) -> list[OffsetFetchResponseTopics]:
    """Return all topics that the client may describe; in versions with topic ids, only topics that exist."""
    topics = view.all(group_request.group_id)
    denied = rights.denied_topics(AclOperation.DESCRIBE, [topic.name for topic in topics])
    topics = [topic for topic in topics if topic.name not in denied]
    if group_request.version < IDS_FROM:
        return topics
    image = coordinator.context.image.topics
    topics = [topic for topic in topics if topic.name in image]
    for topic in topics:
        topic.topic_id = image[topic.name].topic_id
    return topics


def _topic_error(topic: RequestedTopic, error: ErrorCode) -> OffsetFetchResponseTopics:
    rows = [_row(index, None, error) for index in topic.partitions]
    return OffsetFetchResponseTopics(name=topic.name, topic_id=topic.topic_id, partitions=rows)


def _row(partition: int, found: Committed | None, error: ErrorCode = ErrorCode.NONE) -> OffsetFetchResponsePartitions:
    if found is None:
        return OffsetFetchResponsePartitions(
            partition_index=partition, committed_offset=NOT_SET, metadata="", error_code=error
        )
    return OffsetFetchResponsePartitions(
        partition_index=partition,
        committed_offset=found.offset,
        committed_leader_epoch=found.leader_epoch,
        metadata=found.metadata,
    )


def _to_v7_topic(topic: OffsetFetchResponseTopics) -> OffsetFetchResponseTopic:
    """Return a topic in the format of versions up to 7."""
    rows = [
        OffsetFetchResponsePartition(
            partition_index=row.partition_index,
            committed_offset=row.committed_offset,
            committed_leader_epoch=row.committed_leader_epoch,
            metadata=row.metadata,
            error_code=row.error_code,
        )
        for row in topic.partitions
    ]
    return OffsetFetchResponseTopic(name=topic.name, partitions=rows)
