"""Cluster state learned from the traffic: topics by id, their partitions, fetch sessions.

Rules name topics, but requests of newer versions name topic ids, and a fetch within a session may name no topic.
"""

from __future__ import annotations

from collections.abc import Iterable

from kmirror.cluster.replication.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH
from kmirror.hooks.node_view import FetchedPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.create_topics_response import CreateTopicsResponse
from kmirror.protocol.gen.describe_topic_partitions_response import DescribeTopicPartitionsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode

RESPONSES_WITH_TOPICS = frozenset(
    map(key_of, (MetadataResponse, CreateTopicsResponse, DescribeTopicPartitionsResponse))
)
"""Keys of the APIs whose responses contain topics."""
SESSIONS_MAX = 10_000
"""A broker keeps 1000 by default (`max.incremental.fetch.session.cache.slots`)."""
NO_ID = Uuid(bytes(16))


class ClusterView:
    """Learned state, shared by all ports of a proxy."""

    def __init__(self) -> None:
        self.topic_names: dict[Uuid, str] = {}
        self.partitions: dict[str, range] = {}
        self._sessions: dict[int, dict[FetchedPartition, None]] = {}

    def update(self, response: Message) -> None:
        """Record the topics in a response."""
        if isinstance(response, MetadataResponse | DescribeTopicPartitionsResponse):
            for row in response.topics:
                if row.name and row.error_code == ErrorCode.NONE:
                    count = 1 + max((each.partition_index for each in row.partitions), default=-1)
                    self._add_topic(row.name, row.topic_id, count)
        elif isinstance(response, CreateTopicsResponse):
            for created in response.topics:
                if created.error_code == ErrorCode.NONE:
                    self._add_topic(created.name, created.topic_id, created.num_partitions)

    def _add_topic(self, name: str, topic_id: Uuid, count: int) -> None:
        if topic_id != NO_ID:
            self.topic_names[topic_id] = name
        self.partitions[name] = range(max(count, len(self.partitions.get(name, ()))))

    # -- fetch sessions -----------------------------------------------------------------------

    def session_partitions(self, session_id: int) -> Iterable[FetchedPartition]:
        """Return the partitions of a fetch session."""
        return tuple(self._sessions.get(session_id, ()))

    def on_fetch(self, body: FetchRequest) -> dict[FetchedPartition, None] | None:
        """Follow a fetch to a broker; return its partitions if its response may open a session."""
        if body.session_epoch == FINAL_EPOCH:
            self._sessions.pop(body.session_id, None)
            return None
        named: dict[FetchedPartition, None] = {
            (topic.topic, topic.topic_id, row.partition): None for topic in body.topics for row in topic.partitions
        }
        if body.session_epoch == INITIAL_EPOCH:
            self._sessions.pop(body.session_id, None)
            return named
        session = self._sessions.get(body.session_id)
        if session is not None:
            for forgotten in body.forgotten_topics_data:
                for index in forgotten.partitions:
                    session.pop((forgotten.topic, forgotten.topic_id, index), None)
            session.update(named)
        return None

    def open_session(self, session_id: int, partitions: dict[FetchedPartition, None]) -> None:
        """Record a session that a broker has opened; 0 means none."""
        if session_id:
            while len(self._sessions) >= SESSIONS_MAX:
                self._sessions.pop(next(iter(self._sessions)))
            self._sessions[session_id] = partitions
