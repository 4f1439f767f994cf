"""Metadata cache of a cluster's clients: brokers, leaders and topic ids, as in Kafka's clients.

One cache serves all clients of a cluster. When a client finds it outdated, it asks the next broker. It never
replaces a leader epoch by an older one. Brokers that lost their controller respond with outdated metadata.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.message import Message
from kmirror.sim.client import Client
from kmirror.sim.cluster import Cluster

BACKOFF_MS = 200
TIMEOUT_MS = 1_500


@dataclass(frozen=True, slots=True)
class Leader:
    broker_id: int
    endpoint: Endpoint
    epoch: int


class MetadataCache:
    """Latest metadata of one cluster: brokers, leaders and topic ids."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._world = cluster.simulation.world
        self._client = Client(self._world, f"{cluster.name}-directory", cluster.name)
        self._leaders: dict[TopicPartition, tuple[int, int]] = {}
        self._brokers: dict[int, Endpoint] = {}
        self._ids: dict[str, Uuid] = {}
        self._partitions: dict[str, list[TopicPartition]] = {}
        self._turn = 0
        self._is_refreshing = False
        self._not_before: Instant = 0

    def leader(self, tp: TopicPartition) -> Leader | None:
        """Return the leader, or None and request a refresh if it is not known."""
        broker_id, epoch = self._leaders.get(tp, (-1, -1))
        endpoint = self.endpoint(broker_id)
        return None if endpoint is None else Leader(broker_id, endpoint, epoch)

    def endpoint(self, broker_id: int) -> Endpoint | None:
        """Return the endpoint of a broker, or None and request a refresh if it is not known."""
        endpoint = self._brokers.get(broker_id)
        if endpoint is None:
            self.refresh()
        return endpoint

    def partitions(self, topic: str) -> list[TopicPartition]:
        """Return the partitions of a topic; empty, with a refresh requested, if it is not known."""
        found = self._partitions.get(topic, [])
        if not found:
            self.refresh()
        return found

    def any_broker(self) -> Endpoint:
        """Return a bootstrap server, a different one each time."""
        self._turn += 1
        ids = self._cluster.broker_ids
        return self._cluster.endpoint(ids[self._turn % len(ids)])

    def refresh(self) -> None:
        """Send Metadata to a broker, unless a request is in flight or ended within BACKOFF_MS."""
        if self._is_refreshing or self._world.now < self._not_before:
            return
        self._is_refreshing = True
        self._client.send(
            self.any_broker(),
            MetadataRequest(topics=None, allow_auto_topic_creation=False),
            self._on_reply,
            timeout_ms=TIMEOUT_MS,
        )

    def _on_reply(self, reply: Message | None) -> None:
        self._is_refreshing = False
        self._not_before = self._world.now + BACKOFF_MS * MILLISECOND
        if not isinstance(reply, MetadataResponse):
            return
        self._brokers = {row.node_id: Endpoint(row.host, row.port) for row in reply.brokers}
        reported = {topic.name for topic in reply.topics}
        for name in [name for name in self._partitions if name not in reported]:
            del self._partitions[name]  # It was deleted; the next search requests a refresh.
        for topic in reply.topics:
            name = topic.name or ""
            if topic.error_code:
                continue
            fresh = self._ids.get(name) != topic.topic_id
            self._ids[name] = topic.topic_id
            rows = sorted(topic.partitions, key=lambda row: row.partition_index)
            self._partitions[name] = [TopicPartition(name, row.partition_index) for row in rows]
            for row in rows:
                tp = TopicPartition(name, row.partition_index)
                known = self._leaders.get(tp)
                if fresh or known is None or row.leader_epoch >= known[1]:
                    self._leaders[tp] = (row.leader_id, row.leader_epoch)
