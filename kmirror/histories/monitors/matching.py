"""Log matching: a follower appends only after records that equal its leader's (KIP-101).

A follower with records that its leader lacks shows them only when it becomes leader. So its log is compared with the
leader's when it begins to append in a leader epoch, or after either was cut; while it only appends the leader's
records, the result cannot change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.node.partition import UNKNOWN_OFFSET, Partition
from kmirror.histories.compaction import may_be_compacted
from kmirror.histories.monitors.difference import first_difference_below
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import is_internal


@dataclass(slots=True)
class _KnownReplica:
    """A replica after its broker's last event."""

    partition: Partition
    leader_epoch: int
    log_end: int
    matches: bool = False
    """For a follower: its log was compared with the leader's in this leader epoch, since the last cut of either."""


class MatchingMonitor:
    """Judges followers by their leaders' logs."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._replicas: dict[tuple[str, int, TopicPartition], _KnownReplica] = {}

    def on_partitions_changed(self, cluster: str, broker: Broker, partitions: Sequence[Partition]) -> None:
        """Check the partitions of a broker that have changed."""
        broker_id = broker.context.node_id
        for partition in partitions:
            tp, end, epoch = partition.tp, partition.log.log_end_offset, partition.image.leader_epoch
            if is_internal(tp.topic):
                continue
            known_replica = self._replicas.get((cluster, broker_id, tp))
            if known_replica is None or known_replica.partition is not partition:
                self._replicas[cluster, broker_id, tp] = _KnownReplica(partition, epoch, end)
                continue
            before, known_replica.log_end = known_replica.log_end, end
            if known_replica.leader_epoch != epoch or end < before:
                known_replica.leader_epoch, known_replica.matches = epoch, False
                if partition.is_leader:
                    self._must_match_again(cluster, tp)
            if end > before and not known_replica.matches and not partition.is_leader:
                known_replica.matches = self._check(cluster, partition, before)

    def _must_match_again(self, cluster: str, tp: TopicPartition) -> None:
        for broker_id in self._scene.clusters[cluster].broker_ids:
            known_replica = self._replicas.get((cluster, broker_id, tp))
            if known_replica is not None:
                known_replica.matches = False

    def _check(self, cluster: str, follower: Partition, before: int) -> bool:
        """Check a follower that has appended to a log that ended at `before`; return whether that was possible."""
        scene, tp, image = self._scene, follower.tp, follower.image
        found = scene.clusters[cluster]
        if image.leader not in found.broker_ids or not found.runs(image.leader):
            return False
        leader = found.broker(image.leader).parts.replicas.partitions.get(tp)
        if leader is None or leader.leader_epoch != image.leader_epoch or leader.topic_id != follower.topic_id:
            return False
        known = leader.followers.get(follower.broker_id)
        if known is None or known.log_end == UNKNOWN_OFFSET:
            return False  # The leader has cut its log since it sent the appended records.
        if not may_be_compacted(scene.plan, scene.account, cluster, tp.topic, scene.now):
            difference = first_difference_below(leader, follower, before)
            if difference:
                text = f"appends in leader epoch {image.leader_epoch} but differs from the leader: {difference}"
                self._rules.report(cluster, follower.broker_id, tp, "log-matching", text)
        return True
