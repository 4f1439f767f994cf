"""State of a node that hooks need to find the topics and partitions of a request."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.cluster.replication.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH
from kmirror.kernel.events import Node
from kmirror.kernel.uuid import Uuid
from kmirror.kernel.wrapping import innermost
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.headers import RequestHead
from kmirror.protocol.message import Message
from kmirror.protocol.registry import find_key

BROKER = re.compile(r"broker-\d+(-sync-mirror-.+)?")
"""Client ids of brokers; that of a mirror sync contains the mirror's name (D17)."""
FetchedPartition = tuple[str, Uuid, int]
"""A partition in a fetch session: topic name up to version 12 or topic id after that, and index."""


class NodeView(ABC):
    """The state of a node that hooks read.

    A node that is not a kmirror broker or controller implements `NodeView` itself.
    """

    @property
    @abstractmethod
    def node_id(self) -> int:
        """Return the id by which hooks choose the node."""

    @property
    @abstractmethod
    def topic_names(self) -> Mapping[Uuid, str]:
        """Return the mapping of topic id to name."""

    @property
    @abstractmethod
    def partitions(self) -> Mapping[str, Iterable[int]]:
        """Return the mapping of topic to its partition indexes."""

    @abstractmethod
    def session_partitions(self, session_id: int) -> Iterable[FetchedPartition]:
        """Return the partitions of a fetch session; none for an unknown session."""

    @abstractmethod
    def is_of_node(self, head: RequestHead) -> bool:
        """Return whether a request comes from another node; hooks skip it unless `from_nodes` is set."""

    def with_session_partitions(self, body: Message) -> Message:
        """Return a fetch within a session with all partitions of the session; other requests are returned unchanged."""
        if not isinstance(body, FetchRequest) or body.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            return body
        requested = {key: FetchPartition(partition=key[2]) for key in self.session_partitions(body.session_id)}
        for forgotten in body.forgotten_topics_data:
            for index in forgotten.partitions:
                requested.pop((forgotten.topic, forgotten.topic_id, index), None)
        for topic in body.topics:
            for partition in topic.partitions:
                requested[topic.topic, topic.topic_id, partition.partition] = partition
        topics: dict[tuple[str, Uuid], FetchTopic] = {}
        for (name, topic_id, _), partition in requested.items():
            one = topics.setdefault((name, topic_id), FetchTopic(topic=name, topic_id=topic_id, partitions=[]))
            one.partitions.append(partition)
        return FetchRequest(topics=list(topics.values()))


class ClusterNodeView(NodeView):
    """A broker or a controller of kmirror."""

    def __init__(self, node: Node) -> None:
        assert isinstance(node, Broker | Controller), f"hooks wrap a broker or a controller, not {node!r}"
        self._node = node

    @property
    def node_id(self) -> int:
        return self._node.context.node_id

    @property
    def topic_names(self) -> Mapping[Uuid, str]:
        return self._node.context.image.topics.names

    @property
    def partitions(self) -> Mapping[str, Iterable[int]]:
        return {name: topic.partitions for name, topic in self._node.context.image.topics.items()}

    def session_partitions(self, session_id: int) -> Iterable[FetchedPartition]:
        return self._node.parts.sessions.partitions(session_id) if isinstance(self._node, Broker) else ()

    def is_of_node(self, head: RequestHead) -> bool:
        """Return whether the client id is a broker's, or the API is not for clients."""
        api = find_key(head.api_key)
        is_for_nodes = api is not None and "broker" not in api.listeners
        return is_for_nodes or (head.client_id is not None and BROKER.fullmatch(head.client_id) is not None)


def view_of(node: Node) -> NodeView:
    """Return the `NodeView` of a node, which may be wrapped in others."""
    core = innermost(node)
    return core if isinstance(core, NodeView) else ClusterNodeView(core)
