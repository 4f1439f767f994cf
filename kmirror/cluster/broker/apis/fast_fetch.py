"""Fast path for sessionless consumer fetches that can be answered at once without errors.

Consumers without fetch sessions, such as those on librdkafka, send such requests. No state is set up for them: the
partitions are led here, the client may read them, and enough records are available. All other fetches are left to
`fetch.py`, which would give the same response: followers, sessions, errors, divergences, mirrored topics, and fetches
that must wait.
"""

from __future__ import annotations

from kmirror.cluster.authorizer import Resource
from kmirror.cluster.broker.parts import BrokerParts
from kmirror.cluster.node.partition import UNKNOWN_EPOCH
from kmirror.cluster.replication.fetch_read import Reader, check_fetch, end_for, read
from kmirror.cluster.replication.fetch_sessions import FINAL_EPOCH, NO_SESSION
from kmirror.cluster.server import Inbound
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.fetch_request import FetchRequest, FetchTopic
from kmirror.protocol.gen.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kmirror.protocol.message import Message
from kmirror.spec.wire_values import CONSUMER_REPLICA_ID, AclOperation, IsolationLevel

TOPIC_IDS_FROM = 13
REPLICA_STATE_FROM = 15
RACKS_FROM = 11
"""First version in which followers serve consumers (KIP-392)."""
READERS: dict[int, Reader] = {
    level: Reader(CONSUMER_REPLICA_ID, level is IsolationLevel.READ_COMMITTED) for level in IsolationLevel
}


def replica_of(request: FetchRequest, version: int) -> tuple[int, int]:
    """Return (replica id, broker epoch): CONSUMER_REPLICA_ID for a consumer, UNKNOWN_EPOCH if the version has none."""
    if version < REPLICA_STATE_FROM:
        return request.replica_id, UNKNOWN_EPOCH
    state = request.replica_state
    return state.replica_id, state.replica_epoch


def rack_of(parts: BrokerParts, request: FetchRequest, version: int) -> str:
    """Return the rack for choosing a preferred read replica; "" if none is chosen."""
    selects = version >= RACKS_FROM and parts.context.configs.text("replica.selector.class")
    return request.rack_id if selects else ""


def respond(parts: BrokerParts, inbound: Inbound[Message], request: FetchRequest) -> FetchResponse | None:
    """Return the response to a plain fetch; None, with nothing changed, if the fetch is not plain."""
    if request.session_id != NO_SESSION or request.session_epoch != FINAL_EPOCH:
        return None
    replica, _ = replica_of(request, inbound.version)
    reader = READERS.get(request.isolation_level)
    if replica != CONSUMER_REPLICA_ID or reader is None or rack_of(parts, request, inbound.version):
        return None
    remaining, topics = request.max_bytes, request.topics
    responses: dict[str, FetchableTopicResponse] = {}
    for topic in topics:
        name = _name(parts, inbound, topic)
        if name is None or name in responses or not topic.partitions:
            return None
        rows = _rows(parts, topic, name, reader, remaining, is_first=remaining == request.max_bytes)
        if rows is None:
            return None
        remaining -= sum(len(row.records or b"") for row in rows)
        responses[name] = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=rows)
    is_enough = request.max_bytes - remaining >= min(request.min_bytes, request.max_bytes) or request.max_wait_ms <= 0
    return FetchResponse(session_id=NO_SESSION, responses=list(responses.values())) if is_enough and responses else None


def _name(parts: BrokerParts, inbound: Inbound[Message], topic: FetchTopic) -> str | None:
    """Return the name of a topic that is not guarded and that the client may read; None for any other."""
    by_id = inbound.version >= TOPIC_IDS_FROM
    name = parts.context.image.topics.names.get(topic.topic_id) if by_id else topic.topic
    if name is None or parts.components.may_be_guarded(name):
        return None
    return None if inbound.rights.error(AclOperation.READ, Resource.topic(name)) else name


def _rows(
    parts: BrokerParts, topic: FetchTopic, name: str, reader: Reader, remaining: int, *, is_first: bool
) -> list[PartitionData] | None:
    """Return the rows of a topic's partitions in at most `remaining` bytes; None if a partition is not plain.

    With `is_first` the first partition with records may exceed the limits by one batch, so that every fetch makes
    progress.
    """
    rows: dict[int, PartitionData] = {}
    partitions = parts.replicas.partitions
    for requested in topic.partitions:
        partition = partitions.get(TopicPartition(name, requested.partition))
        if (
            partition is None
            or partition.image.leader != partition.broker_id
            or requested.partition in rows
            or check_fetch(partition, requested, reader, foreign=False) is not None
        ):
            return None
        partition_max = requested.partition_max_bytes
        data = rows[requested.partition] = read(
            partition,
            requested,
            reader,
            end_offset=end_for(partition.log, reader),
            max_bytes=partition_max if partition_max < remaining else remaining,
            min_one=is_first,
            foreign=False,
        )
        if data.records:
            is_first = False
            remaining -= len(data.records)
    return list(rows.values())
