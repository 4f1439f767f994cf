"""Fetch plan of a consumer: the broker and position from which each partition is fetched.

Only partitions whose position was moved are examined again, and all of them after the leaders were looked up or
doubted. So the cost of a round without new data does not depend on the number of partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kmirror.client.fetch_session import FETCH_WITH_DIVERGENCE, FetchSession, PartitionFetch
from kmirror.client.positions import Position, Positions
from kmirror.client.read_replicas import ReadReplicas
from kmirror.client.remote_cluster import RemoteCluster
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import Endpoint, TopicPartition
from kmirror.protocol.gen.fetch_request import FetchRequest


class FetchPlan:
    """The partitions that one consumer reads, and its session with each broker."""

    def __init__(self, cluster: RemoteCluster, partition_max_bytes: int, replicas: ReadReplicas) -> None:
        self._cluster = cluster
        self._partition_max_bytes = partition_max_bytes
        self._replicas = replicas
        self.positions = Positions()
        self.assigned: Sequence[TopicPartition] = ()
        self.topics: Sequence[str] = ()
        """The topics of the assigned partitions."""
        self.stale_topics: dict[str, None] = {}
        """Topics whose leaders must be looked up again; none of them is fetched until then."""
        self.is_settled = False
        """Whether every leader is known, and no assigned partition is beyond its topic's end."""
        self._rank: dict[TopicPartition, int] = {}
        self._without_position: dict[TopicPartition, None] = {}
        self._stale: dict[TopicPartition, None] = {}
        """Partitions to examine before the next fetch."""
        self._placements: dict[TopicPartition, tuple[Endpoint, Position]] = {}
        """The broker and position from which a partition is fetched."""
        self._endpoints: list[Endpoint] | None = None
        self.sessions: dict[Endpoint, FetchSession] = {}

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch exactly these partitions."""
        new = tuple(partitions)
        if new is self.assigned or new == self.assigned:
            return
        self.assigned = new
        self.topics = list(dict.fromkeys(tp.topic for tp in new))
        self._rank = {tp: rank for rank, tp in enumerate(new)}
        self._without_position = {tp: None for tp in new if tp not in self.positions}
        self.recheck_all()

    def mark_stale(self, topics: Iterable[str]) -> None:
        """Fetch none of these topics before their leaders are looked up again."""
        self.stale_topics.update(dict.fromkeys(topics))
        self.recheck_all()

    def recheck_all(self) -> None:
        """Look at every partition before the next fetch: its leader may have changed, or be unknown."""
        self.is_settled = False
        self._endpoints = None
        self._stale.update(dict.fromkeys(self._placements))
        self._stale.update(dict.fromkeys(self.assigned))

    def leader_endpoint(self, tp: TopicPartition) -> Endpoint | None:
        """Return the endpoint of the leader of `tp`, or None if that is not known, or doubted."""
        return None if tp.topic in self.stale_topics else self._cluster.leader_endpoint(tp)

    def prefer(self, now: Instant, tp: TopicPartition, broker_id: int) -> None:
        """Fetch `tp` from the replica that its leader prefers; look the topic up first if the broker is not known."""
        if self._replicas.prefer(now, tp, broker_id):
            self._stale[tp] = None
        else:
            self.mark_stale([tp.topic])

    def return_to_leader(self, tp: TopicPartition) -> bool:
        """Fetch `tp` from its leader from now on; return whether a preferred replica was in use until now."""
        had_replica = self._replicas.clear(tp)
        if had_replica:
            self._stale[tp] = None
        return had_replica

    def without_position(self) -> list[TopicPartition]:
        """Return the assigned partitions that have no position."""
        self._apply_moves()
        return sorted(self._without_position, key=self._rank.__getitem__)

    def update_sessions(self, now: Instant) -> list[Endpoint]:
        """Update the sessions with positions and replicas; return the endpoints to fetch from."""
        self._apply_moves()
        for tp in self._replicas.expired(now):
            self.return_to_leader(tp)
        stale, self._stale = self._stale, {}
        for tp in sorted(stale, key=self._rank_of):
            self._update_placement(tp)
        if self._endpoints is None:
            placement = (self._placements.get(tp) for tp in self.assigned)
            self._endpoints = list(dict.fromkeys(place[0] for place in placement if place is not None))
        return self._endpoints

    def _rank_of(self, tp: TopicPartition) -> int:
        return self._rank.get(tp, -1)

    def _apply_moves(self) -> None:
        for tp in self.positions.take_moved():
            if tp in self._rank:
                self._stale[tp] = None
                if tp in self.positions:
                    self._without_position.pop(tp, None)
                else:
                    self._without_position[tp] = None

    def _update_placement(self, tp: TopicPartition) -> None:
        position = self.positions.get(tp) if tp in self._rank else None
        leader = None if position is None else self.leader_endpoint(tp)
        endpoint = None if leader is None else self._replicas.endpoint(tp) or leader
        self._replicas.forget(tp)
        previous = self._placements.pop(tp, None)
        if previous is not None and previous[0] != endpoint:
            self.sessions[previous[0]].set_fetch(tp, None)
        if (None if previous is None else previous[0]) != endpoint:
            self._endpoints = None
        if position is not None and endpoint is not None:
            self._placements[tp] = endpoint, position
            if endpoint == leader:
                self._replicas.request_validation(tp, position, endpoint)
            if endpoint != leader or not self._may_diverge(endpoint):
                position = Position(position.offset)  # A follower that is behind would respond with a divergence.
            self.sessions.setdefault(endpoint, FetchSession()).set_fetch(tp, self._partition_fetch(tp, position))

    def _may_diverge(self, endpoint: Endpoint) -> bool:
        """Return whether a broker accepts the epoch of a position; one before 2.7 does not (KIP-595)."""
        version = self._cluster.version(endpoint, FetchRequest)
        return version is None or version >= FETCH_WITH_DIVERGENCE

    def _partition_fetch(self, tp: TopicPartition, position: Position) -> PartitionFetch:
        leader = self._cluster.leader(tp)
        assert leader is not None, f"the leader of {tp} was found"
        return PartitionFetch(
            topic_id=self._cluster.topics[tp.topic].topic_id,
            current_leader_epoch=leader.epoch,
            fetch_offset=position.offset,
            last_fetched_epoch=position.epoch,
            partition_max_bytes=self._partition_max_bytes,
        )

    def fill(self, endpoint: Endpoint, request: FetchRequest) -> None:
        """Put the changes for the broker at `endpoint` into `request`."""
        session = self.sessions[endpoint]
        request.rack_id = self._replicas.rack(endpoint)
        changed = sorted(session.changed(), key=self._rank_of)
        session.fill(request, sorted(session.partitions(), key=self._rank_of) if session.is_new else changed, changed)

    def fetched_position(self, endpoint: Endpoint, tp: TopicPartition) -> Position | None:
        """Return the position in the fetch to the broker at `endpoint`, None if there was none."""
        placement = self._placements.get(tp)
        return None if placement is None or placement[0] != endpoint else placement[1]
