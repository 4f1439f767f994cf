"""Rules of a mirroring session at its begin, during it, and at its end."""

from __future__ import annotations

from kmirror.cluster.node.partition import UNKNOWN_OFFSET, Partition
from kmirror.histories.compaction import may_be_compacted
from kmirror.histories.monitors.difference import find_difference, first_difference_below
from kmirror.histories.monitors.replica_returns import find_difference_after_return
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.access import has_foreign_epochs
from kmirror.mirror.facts import StateEntered
from kmirror.mirror.states import MirrorState

STATES_WITHOUT_CUT = (MirrorState.MIRRORING, MirrorState.PAUSED, MirrorState.STOPPED)
"""States in which the leader has no cut left to make."""


class SessionMonitor:
    """Judges mirrored partitions."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._mirroring_begins: dict[tuple[str, TopicPartition], tuple[int, int]] = {}
        """Leader epoch and log end at which a partition last became MIRRORING."""

    def on_state_entered(self, cluster: str, leader: Partition, fact: StateEntered) -> None:
        """Check a leader that has just entered a state of the mirror."""
        key = cluster, leader.tp
        if fact.state is MirrorState.MIRRORING:
            self._mirroring_begins[key] = leader.leader_epoch, leader.log.log_end_offset
            if fact.last_mirrored_epoch >= 0:  # D23
                text = f"MIRRORING with the last mirrored epoch {fact.last_mirrored_epoch} of the previous session"
                self._report(cluster, leader, "last-mirrored-epoch", text)
        elif fact.state is MirrorState.STOPPED:
            epoch, end = self._mirroring_begins.pop(key, (-1, 0))
            if leader.leader_epoch <= epoch and leader.log.log_end_offset != end:  # D36
                text = f"STOPPED in leader epoch {leader.leader_epoch}, in which records were mirrored"
                self._report(cluster, leader, "stop-epoch", text)

    def check_replicas(self, cluster: str, leader: Partition, *, prepared: bool) -> None:
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
            if end < leader.log.high_watermark and self._changes_retention(leader.tp.topic):
                # Retention had emptied it before its leader cut; it copies the log from its start (D56).
                difference = first_difference_below(leader, replica, end)
            else:
                difference = find_difference(leader, replica)
            if difference:
                text = f"MIRRORING, but broker {broker_id} of the ISR differs from the leader: {difference}"
                self._report(cluster, leader, "isr-uncut", text)

    def _changes_retention(self, topic: str) -> bool:
        """Return whether a step limits the retention of a topic, here or at its source."""
        return any(
            step.args.get("topic") == topic and str(step.args.get("name", "")).startswith("retention.")
            for step in self._scene.plan.steps_that("alter_topic")
        )

    def check_outside_isr(self, cluster: str, leader: Partition) -> None:
        """Check whether the replicas outside the ISR of a mirrored log would become equal to their leader."""
        scene = self._scene
        context = scene.mirror_context(cluster, leader.broker_id)
        mp = None if context is None else context.partitions.get(leader.tp)
        if context is None or mp is None or mp.state not in STATES_WITHOUT_CUT:
            return
        if not may_be_compacted(scene.plan, scene.account, cluster, leader.tp.topic, scene.now):
            foreign = has_foreign_epochs(context, leader)
            difference = find_difference_after_return(scene, cluster, leader, mp.assignment.mirror, foreign=foreign)
            if difference:
                self._report(cluster, leader, "away-uncut", difference)

    def _report(self, cluster: str, leader: Partition, rule: str, text: str) -> None:
        self._rules.report(cluster, leader.broker_id, leader.tp, rule, text)
