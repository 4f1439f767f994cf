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
from kmirror.histories.inside.difference import parts
from kmirror.histories.inside.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.histories.survivors import may_be_compacted
from kmirror.kernel.ids import TopicPartition
from kmirror.spec.topics import is_internal


@dataclass(slots=True)
class _Held:
    """A replica after its broker's last event."""

    partition: Partition
    leader_epoch: int
    log_end: int
    matches: bool = False
    """For a follower: its log was compared with the leader's in this leader epoch, since the last cut of either."""


class MatchingLook:
    """Judges followers by their leaders' logs."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._held: dict[tuple[str, int, TopicPartition], _Held] = {}

    def moved(self, cluster: str, broker: Broker, partitions: Sequence[Partition]) -> None:
        """Check the partitions of a broker that have changed."""
        broker_id = broker.context.node_id
        for partition in partitions:
            tp, end, epoch = partition.tp, partition.log.log_end_offset, partition.image.leader_epoch
            if is_internal(tp.topic):
                continue
            held = self._held.get((cluster, broker_id, tp))
            if held is None or held.partition is not partition:
                self._held[cluster, broker_id, tp] = _Held(partition, epoch, end)
                continue
            before, held.log_end = held.log_end, end
            if held.leader_epoch != epoch or end < before:
                held.leader_epoch, held.matches = epoch, False
                if partition.is_leader:
                    self._must_match_again(cluster, tp)
            if end > before and not held.matches and not partition.is_leader:
                held.matches = self._look(cluster, partition, before)

    def _must_match_again(self, cluster: str, tp: TopicPartition) -> None:
        for broker_id in self._scene.clusters[cluster].broker_ids:
            held = self._held.get((cluster, broker_id, tp))
            if held is not None:
                held.matches = False

    def _look(self, cluster: str, follower: Partition, before: int) -> bool:
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
            where = parts(leader, follower, before)
            if where:
                text = f"appends in leader epoch {image.leader_epoch} but differs from the leader: {where}"
                self._rules.broken(cluster, follower.broker_id, tp, "log-matching", text)
        return True
