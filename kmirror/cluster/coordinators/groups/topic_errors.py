"""Of which partitions may a request commit or delete offsets, and what becomes of the others?

OffsetCommit, TxnOffsetCommit and OffsetDelete share this. Topics that may not be read or are unknown, and partitions
that do not exist, are refused before the coordinator is asked, and stand first in the answer. What the coordinator says
joins the row of its topic if that is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from kmirror.cluster.images import MetadataImage
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.spec.error_codes import ErrorCode


class AskedPartition(Protocol):
    """One partition of a request."""

    partition_index: int


P = TypeVar("P", bound=AskedPartition)
_TopicKey = tuple[str, Uuid]


@dataclass(slots=True)
class AskedTopic(Generic[P]):
    """One topic of a request, with partitions of it."""

    name: str
    topic_id: Uuid
    """ZERO if nobody knows it."""
    partitions: Sequence[P]

    def errors(self, error: ErrorCode) -> TopicErrors:
        """Return `error` for each of the partitions."""
        return TopicErrors(self.name, self.topic_id, [(one.partition_index, error) for one in self.partitions])


@dataclass(slots=True)
class TopicErrors:
    """One topic of an answer."""

    name: str
    topic_id: Uuid
    rows: list[tuple[int, ErrorCode]]
    """(partition, error)."""


def sort_out(
    image: MetadataImage, asked: Iterable[AskedTopic[P]], denied: Mapping[str, ErrorCode]
) -> tuple[list[TopicErrors], list[AskedTopic[P]]]:
    """Return what is refused, and what the coordinator is to be asked about; `denied` has an error by topic name."""
    refused: dict[_TopicKey, TopicErrors] = {}
    accepted: list[AskedTopic[P]] = []
    for topic in asked:
        error = denied.get(topic.name)
        if error is None and topic.name not in image.topics:
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if error is not None:
            _join(refused, topic.errors(error))
            continue
        known: list[P] = []
        for partition in topic.partitions:
            if image.topics.partition(TopicPartition(topic.name, partition.partition_index)) is not None:
                known.append(partition)
            else:
                row = (partition.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                _join(refused, TopicErrors(topic.name, topic.topic_id, [row]))
        if known:
            accepted.append(AskedTopic(topic.name, topic.topic_id, known))
    return list(refused.values()), accepted


def merged(refused: list[TopicErrors], decided: list[TopicErrors]) -> list[TopicErrors]:
    """Return the topics of the answer: `refused`, joined by what the coordinator `decided`."""
    if not refused:
        return decided
    topics = {(topic.name, topic.topic_id): topic for topic in refused}
    for topic in decided:
        _join(topics, topic)
    return list(topics.values())


def _join(topics: dict[_TopicKey, TopicErrors], new: TopicErrors) -> None:
    known = topics.setdefault((new.name, new.topic_id), new)
    if known is not new:
        known.rows += new.rows
