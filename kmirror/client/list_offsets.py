"""ListOffsets: the request for log starts or ends of partitions to the broker that leads them, and its response."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID, IsolationLevel, OffsetSpec


def list_offsets(
    epochs: Mapping[TopicPartition, int],
    timestamp: int = OffsetSpec.LATEST,
    isolation: IsolationLevel = IsolationLevel.READ_UNCOMMITTED,
) -> ListOffsetsRequest:
    """Return the request for one offset of each partition: an `OffsetSpec`, or that of a timestamp in ms since 1970.

    `epochs` has the leader epoch of each partition, -1 if it is not known: a broker that leads a partition in another
    epoch responds with an error.
    """
    topics: dict[str, ListOffsetsTopic] = {}
    for tp, epoch in epochs.items():
        row = ListOffsetsPartition(partition_index=tp.partition, current_leader_epoch=epoch, timestamp=timestamp)
        topics.setdefault(tp.topic, ListOffsetsTopic(name=tp.topic)).partitions.append(row)
    return ListOffsetsRequest(replica_id=CONSUMER_REPLICA_ID, isolation_level=isolation, topics=list(topics.values()))


def offsets_in(responses: Iterable[object]) -> dict[TopicPartition, int]:
    """Return the offsets in some responses; missing responses and partitions with an error are skipped."""
    return {
        TopicPartition(topic.name, row.partition_index): row.offset
        for response in responses
        if isinstance(response, ListOffsetsResponse)
        for topic in response.topics
        for row in topic.partitions
        if not row.error_code and row.offset >= 0
    }
