"""DescribeTopicPartitions, version 0: topics in order of name, with a limited number of partitions per response.

The next request continues at the cursor in the response.
"""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.error_response import error_response
from kmirror.cluster.images import MetadataImage, TopicImage
from kmirror.cluster.server import Inbound
from kmirror.kernel.clock import Instant
from kmirror.protocol.gen.describe_topic_partitions_request import DescribeTopicPartitionsRequest
from kmirror.protocol.gen.describe_topic_partitions_response import (
    Cursor,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import is_internal, problem_with_name
from kmirror.spec.wire_values import AclOperation


def handle(parts: BrokerParts, now: Instant, inbound: Inbound[DescribeTopicPartitionsRequest]) -> None:
    """Reply with the partitions from the cursor on; INVALID_REQUEST for an invalid cursor."""
    request = inbound.body
    cursor, requested = request.cursor, [topic.name for topic in request.topics]
    if cursor is not None and (cursor.partition_index < 0 or (requested and cursor.topic_name not in requested)):
        inbound.reply(error_response(request, inbound.version, ErrorCode.INVALID_REQUEST, ""))
        return
    first = "" if cursor is None else cursor.topic_name
    names = sorted(name for name in dict.fromkeys(requested or parts.context.image.topics) if name >= first)
    denied = inbound.rights.denied_topics(AclOperation.DESCRIBE, names)
    limit = min(request.response_partition_limit, parts.context.configs.integer("max.request.partition.size.limit"))
    page = _Page(parts.context.image, inbound, max(limit, 1))
    page.fill(
        [name for name in names if name not in denied],
        first,
        0 if cursor is None else cursor.partition_index,
    )
    for name in denied if requested else ():
        page.topics.append(_error_topic(name, denied[name], internal=False))
    inbound.reply(DescribeTopicPartitionsResponse(topics=page.topics, next_cursor=page.cursor))


def _error_topic(name: str, error: ErrorCode, *, internal: bool) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(error_code=error, name=name, is_internal=internal, partitions=[])


class _Page:
    """The content of one response."""

    def __init__(self, image: MetadataImage, inbound: Inbound[DescribeTopicPartitionsRequest], limit: int) -> None:
        self.topics: list[DescribeTopicPartitionsResponseTopic] = []
        self.cursor: Cursor | None = None
        self._image = image
        self._rights, self._listener = inbound.rights, inbound.client.listener
        self._remaining = limit

    def fill(self, names: Sequence[str], first: str, start: int) -> None:
        """Describe these topics up to the limit; the topic named `first` begins at partition `start`."""
        for name in names:
            if not self._remaining:
                self.cursor = Cursor(topic_name=name, partition_index=0)
                return
            topic = self._image.topics.get(name)
            if topic is None:
                is_invalid = problem_with_name(name) is not None
                error = ErrorCode.INVALID_TOPIC_EXCEPTION if is_invalid else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                row = _error_topic(name, error, internal=is_internal(name))
            else:
                row = self._describe(topic, start if name == first else 0)
            row.topic_authorized_operations = self._rights.operations(Resource.topic(name))
            self.topics.append(row)
            if self.cursor is not None:
                return

    def _describe(self, topic: TopicImage, start: int) -> DescribeTopicPartitionsResponseTopic:
        end = min(len(topic.partitions), start + self._remaining)
        if end < len(topic.partitions):
            self.cursor = Cursor(topic_name=topic.name, partition_index=end)
        rows = [self._row(topic, index) for index in range(start, end)]
        self._remaining -= len(rows)
        return DescribeTopicPartitionsResponseTopic(
            name=topic.name, topic_id=topic.topic_id, is_internal=is_internal(topic.name), partitions=rows
        )

    def _row(self, topic: TopicImage, index: int) -> DescribeTopicPartitionsResponsePartition:
        brokers, partition = self._image.brokers, topic.partitions[index]
        return DescribeTopicPartitionsResponsePartition(
            partition_index=index,
            leader_id=-1 if brokers.endpoint(partition.leader, self._listener) is None else partition.leader,
            leader_epoch=partition.leader_epoch,
            replica_nodes=list(partition.replicas),
            isr_nodes=list(partition.isr),
            eligible_leader_replicas=list(partition.eligible),
            last_known_elr=list(partition.last_known),
            offline_replicas=brokers.offline(partition, self._listener),
        )
