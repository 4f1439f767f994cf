"""Preferred read replicas of a consumer (KIP-392).

If a consumer has a rack, the leader names the replica to fetch from. As in Kafka's Java consumer that holds until
`metadata.max.age.ms` are over, the leader or its epoch changes, the broker is missing in the metadata, or the replica
returns an error.

A follower cannot know whether its log lacks a position because it is behind or because the log was cut. So the
leader must validate the position first, once in each leader epoch, with a fetch that names no rack.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from itertools import takewhile

from kmirror.client.positions import NO_EPOCH, Position
from kmirror.client.remote_cluster import RemoteCluster, RemoteLeader
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.ids import Endpoint, TopicPartition


@dataclass(frozen=True, slots=True)
class _Preferred:
    broker_id: int
    leader: RemoteLeader
    """The leader that prefers it."""
    until: Instant


class ReadReplicas:
    """The preferred read replicas of one consumer, and the positions that their leaders have validated."""

    def __init__(self, cluster: RemoteCluster, rack: str, max_age_ms: int) -> None:
        self._cluster = cluster
        self._rack = rack
        self._max_age = max_age_ms * MILLISECOND
        self._preferred: dict[TopicPartition, _Preferred] = {}
        """In the order in which they expire."""
        self._valid: dict[TopicPartition, RemoteLeader] = {}
        """The leader that has validated the position of a partition."""
        self._unvalidated: dict[TopicPartition, tuple[Endpoint, RemoteLeader]] = {}
        """Partitions whose leader has not validated their position, and the endpoint of the request."""

    def prefer(self, now: Instant, tp: TopicPartition, broker_id: int) -> bool:
        """Fetch `tp` from this broker; return False if metadata does not have it."""
        leader = self._cluster.leader(tp)
        if leader is None or broker_id not in self._cluster.brokers:
            return False
        self._preferred.pop(tp, None)
        self._preferred[tp] = _Preferred(broker_id, leader, now + self._max_age)
        return True

    def clear(self, tp: TopicPartition) -> bool:
        """Fetch `tp` from its leader again; return whether it was fetched from another replica."""
        return self._preferred.pop(tp, None) is not None

    def expired(self, now: Instant) -> list[TopicPartition]:
        """Return the partitions whose preferred replica has expired."""
        return [tp for tp, _ in takewhile(lambda row: now > row[1].until, self._preferred.items())]

    def endpoint(self, tp: TopicPartition) -> Endpoint | None:
        """Return the endpoint of the preferred replica of `tp`, or None to fetch from the leader."""
        preferred = self._preferred.get(tp)
        if preferred is None:
            return None
        endpoint = self._cluster.brokers.get(preferred.broker_id)
        if endpoint is None or self._cluster.leader(tp) != preferred.leader:
            del self._preferred[tp]
            return None
        return endpoint

    # -- positions ----------------------------------------------------------------------------

    def forget(self, tp: TopicPartition) -> None:
        """Drop the pending validation of the position of `tp`."""
        self._unvalidated.pop(tp, None)

    def request_validation(self, tp: TopicPartition, position: Position, endpoint: Endpoint) -> None:
        """Have the leader at `endpoint` validate the position, unless it has done so."""
        leader = self._cluster.leader(tp)
        assert leader is not None, f"the leader of {tp} was found"
        if self._rack and position.epoch != NO_EPOCH and self._valid.get(tp) != leader:
            self._unvalidated[tp] = endpoint, leader

    def on_answer(self, endpoint: Endpoint, failed: Container[TopicPartition]) -> None:
        """Record that the broker at `endpoint` has responded without an error or a divergence, except for `failed`."""
        for tp, (leader_endpoint, leader) in list(self._unvalidated.items()):
            if leader_endpoint == endpoint and tp not in failed:
                del self._unvalidated[tp]
                self._valid[tp] = leader

    def rack(self, endpoint: Endpoint) -> str:
        """Return the rack for a fetch to `endpoint`; empty while the leader there validates a position."""
        return (
            "" if any(leader_endpoint == endpoint for leader_endpoint, _ in self._unvalidated.values()) else self._rack
        )
