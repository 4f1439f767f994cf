"""Rules of a mirroring session at its begin, during it, and at its end."""

from __future__ import annotations

from kmirror.cluster.node.partition import UNKNOWN_OFFSET, Partition
from kmirror.histories.inside.difference import difference, parts
from kmirror.histories.inside.returning import would_differ
from kmirror.histories.inside.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.histories.survivors import may_be_compacted
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.access import has_foreign_epochs
from kmirror.mirror.facts import StateEntered
from kmirror.mirror.states import MirrorState

AT_REST = (MirrorState.MIRRORING, MirrorState.PAUSED, MirrorState.STOPPED)
"""States in which the leader owes no cut."""


class SessionLook:
    """Judges mirrored partitions."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._mirrored_in: dict[tuple[str, TopicPartition], tuple[int, int]] = {}
        """Leader epoch and log end at which a partition last became MIRRORING."""

    def state_entered(self, cluster: str, leader: Partition, fact: StateEntered) -> None:
        """Check a leader that has just entered a state of the mirror."""
        key = cluster, leader.tp
        if fact.state is MirrorState.MIRRORING:
            self._mirrored_in[key] = leader.leader_epoch, leader.log.log_end_offset
            if fact.last_mirrored_epoch >= 0:  # D23
                text = f"MIRRORING with the last mirrored epoch {fact.last_mirrored_epoch} of the previous session"
                self._note(cluster, leader, "last-mirrored-epoch", text)
        elif fact.state is MirrorState.STOPPED:
            epoch, end = self._mirrored_in.pop(key, (-1, 0))
            if leader.leader_epoch <= epoch and leader.log.log_end_offset != end:  # D36
                text = f"STOPPED in leader epoch {leader.leader_epoch}, in which records were mirrored"
                self._note(cluster, leader, "stop-epoch", text)

    def look_at_replicas(self, cluster: str, leader: Partition, *, prepared: bool) -> None:
        """Check that the ISR of a partition that has just become MIRRORING equals its leader.

        Only a leader that has `prepared` waits for its ISR. In MIRRORING it cuts where the source's log diverges, and
        may be paused and resumed before a member has fetched since (D12).
        """
        for broker_id, replica in self._scene.clusters[cluster].replicas(leader.tp).items():
            if broker_id not in leader.isr or broker_id == leader.broker_id:
                continue
            if not prepared and leader.followers[broker_id].log_end == UNKNOWN_OFFSET:
                continue
            end = replica.log.log_end_offset
            if end < leader.log.high_watermark and self._has_retention(leader.tp.topic):
                # Retention had emptied it before its leader cut; it copies the log from its start (D56).
                where = parts(leader, replica, end)
            else:
                where = difference(leader, replica)
            if where:
                text = f"MIRRORING, but broker {broker_id} of the ISR differs from the leader: {where}"
                self._note(cluster, leader, "isr-uncut", text)

    def _has_retention(self, topic: str) -> bool:
        """Return whether a step limits the retention of a topic, here or at its source."""
        return any(
            step.args.get("topic") == topic and str(step.args.get("name", "")).startswith("retention.")
            for step in self._scene.plan.steps_that("alter_topic")
        )

    def look_at_away(self, cluster: str, leader: Partition) -> None:
        """Check whether the replicas outside the ISR of a mirrored log would become equal to their leader."""
        scene = self._scene
        context = scene.mirror_context(cluster, leader.broker_id)
        mp = None if context is None else context.partitions.get(leader.tp)
        if context is None or mp is None or mp.state not in AT_REST:
            return
        if not may_be_compacted(scene.plan, scene.account, cluster, leader.tp.topic, scene.now):
            foreign = has_foreign_epochs(context, leader)
            where = would_differ(scene, cluster, leader, mp.assignment.mirror, foreign=foreign)
            if where:
                self._note(cluster, leader, "away-uncut", where)

    def _note(self, cluster: str, leader: Partition, rule: str, text: str) -> None:
        self._rules.broken(cluster, leader.broker_id, leader.tp, rule, text)
