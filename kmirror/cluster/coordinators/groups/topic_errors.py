"""Topic and partition checks of requests that commit or delete offsets.

OffsetCommit, TxnOffsetCommit and OffsetDelete share them. Topics that are unknown or may not be read, and partitions
that do not exist, are rejected before the coordinator is called, and are first in the response. The coordinator's rows
are added to the row of their topic if it exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kmirror.cluster.images import MetadataImage
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.spec.error_codes import ErrorCode


class RequestedPartition(Protocol):
    """One partition of a request."""

    partition_index: int


P = TypeVar("P", bound=RequestedPartition)
_TopicKey = tuple[str, Uuid]


@dataclass(slots=True)
class RequestedTopic(Generic[P]):
    """One topic of a request, with partitions of it."""

    name: str
    topic_id: Uuid
    """ZERO if it is unknown."""
    partitions: Sequence[P]

    def errors(self, error: ErrorCode) -> TopicErrors:
        """Return `error` for each of the partitions."""
        return TopicErrors(self.name, self.topic_id, [(one.partition_index, error) for one in self.partitions])


@dataclass(slots=True)
class TopicErrors:
    """One topic of a response."""

    name: str
    topic_id: Uuid
    rows: list[tuple[int, ErrorCode]]
    """(partition, error)."""


def check_topics(
    image: MetadataImage, requested: Iterable[RequestedTopic[P]], denied: Mapping[str, ErrorCode]
) -> tuple[list[TopicErrors], list[RequestedTopic[P]]]:
    """Return the rejected partitions, and those for the coordinator; `denied` maps topic names to errors."""
    rejected: dict[_TopicKey, TopicErrors] = {}
    accepted: list[RequestedTopic[P]] = []
    for topic in requested:
        error = denied.get(topic.name)
        if error is None and topic.name not in image.topics:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if error is not None:
            _add_rows(rejected, topic.errors(error))
            continue
        existing: list[P] = []
        for partition in topic.partitions:
            if image.topics.partition(TopicPartition(topic.name, partition.partition_index)) is not None:
                existing.append(partition)
            else:
                row = (partition.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                _add_rows(rejected, TopicErrors(topic.name, topic.topic_id, [row]))
        if existing:
            accepted.append(RequestedTopic(topic.name, topic.topic_id, existing))
    return list(rejected.values()), accepted


def merge_errors(rejected: list[TopicErrors], results: list[TopicErrors]) -> list[TopicErrors]:
    """Return the topics of the response: `rejected`, extended by the coordinator's rows in `results`."""
    if not rejected:
        return results
    topics = {(topic.name, topic.topic_id): topic for topic in rejected}
    for topic in results:
        _add_rows(topics, topic)
    return list(topics.values())


def _add_rows(topics: dict[_TopicKey, TopicErrors], new: TopicErrors) -> None:
    row = topics.setdefault((new.name, new.topic_id), new)
    if row is not new:
        row.rows += new.rows
