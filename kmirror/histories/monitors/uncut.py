"""Rules of the list of uncut replicas (D30), and of the cuts that a leader demands and considers confirmed (D35)."""

from __future__ import annotations

from kmirror.histories.compaction import may_be_compacted
from kmirror.histories.monitors.mirrored_partitions import PartitionSnapshot
from kmirror.histories.monitors.replica_returns import batches_on_disk, find_extra_batch, find_kept_records
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.monitors.sessions import STATES_WITHOUT_CUT
from kmirror.histories.scene import Scene
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.access import has_foreign_epochs
from kmirror.mirror.cut_rules import NO_UNCUT, SESSION, Uncut
from kmirror.mirror.states import MirrorState

ALL_REPLICAS = "mirror.support.unclean.leader.election"


class UncutRules:
    """Judges lists of uncut replicas each time one is written, read, or reduced."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._listed: dict[tuple[str, Uuid, int], tuple[int, Uncut]] = {}
        """Leader epoch in which a partition's list was last seen, and the list."""
        self._finished: dict[tuple[str, Uuid, int], list[int]] = {}
        """Replicas that should join the ISR, when a leader began to write a state after its cut, until the write is
        done.
        """

    def judge(self, after: PartitionSnapshot, before: PartitionSnapshot | None) -> None:
        """Check how an event changed a partition; `before` is None if the partition was not observed before."""
        if after.state is None:
            return
        was_loaded = before is not None and before.state is not None
        if not was_loaded or before is None or before.uncut is not after.uncut:
            self._check_list(after, before)
            self._check_demands(after, NO_UNCUT if before is None else before.uncut)
            if after.state in STATES_WITHOUT_CUT:
                self._check_outside_isr(after)
        if before is None:
            self._finished.pop(after.key, None)
            return
        if before.required_cuts is not after.required_cuts:
            self._check_confirmed(after, before)
        if before.state is not MirrorState.PREPARING:
            return
        if after.state is MirrorState.MIRRORING:
            self._check_mirroring_begin(after)
            return
        has_cut = after.state is MirrorState.PREPARING and after.cut_at is not None
        if has_cut and before.cut_at is None:
            self._check_cut(after, before)
        if not (has_cut and after.busy):
            self._finished.pop(after.key, None)  # Another state was written, such as STOPPING, or none.
        elif not before.busy or before.cut_at is None:
            self._finished[after.key] = _missing(after)

    def forget(self, cluster: str, topic_id: Uuid) -> None:
        """Forget the lists of a topic that was deleted."""
        for known in (self._listed, self._finished):
            for key in [key for key in known if key[:2] == (cluster, topic_id)]:
                del known[key]

    def _check_list(self, after: PartitionSnapshot, before: PartitionSnapshot | None) -> None:
        """Check that a replica is listed for the deepest cut that it missed.

        A leader that withholds its log may have made its list deeper without persisting that yet (D63).
        """
        epoch, listed = self._listed.get(after.key, (-1, NO_UNCUT))
        if after.partition.leader_epoch < epoch:
            return  # A deposed leader does not know the current list.
        written = (
            {r: max(row, listed.get(r, row)) for r, row in after.uncut.items()} if after.mp.is_withheld else after.uncut
        )
        self._listed[after.key] = after.partition.leader_epoch, written
        for replica, row in after.uncut.items():
            if replica != SESSION and row > listed.get(replica, row) and not _had_confirmed(after, before, replica):
                text = f"broker {replica} had missed a cut to epoch {listed[replica]}, but is listed for epoch {row}"
                self._report(after, "list-rises", text)

    def _check_demands(self, after: PartitionSnapshot, known: Uncut) -> None:
        """Check that a leader demands each added cut from its follower, and keeps listed followers out of the ISR."""
        partition = after.partition
        for replica, row in after.uncut.items():
            if replica == SESSION or replica not in partition.followers:
                continue
            demand = partition.required_cuts.get(replica)
            if demand is None and known.get(replica) != row:
                self._report(
                    after,
                    "not-demanded",
                    f"broker {replica} is listed for a cut to epoch {row}, but no cut is required",
                )
            elif demand is not None and demand > row:
                text = (
                    f"broker {replica} is listed for a cut to epoch {row}, but its leader requires one to "
                    f"epoch {demand}"
                )
                self._report(after, "demanded-less", text)
            if replica not in partition.barred_from_isr:
                self._report(
                    after, "admitted", f"broker {replica} is listed for a cut to epoch {row}, but may join the ISR"
                )
        removed = [replica for replica in partition.required_cuts if replica not in after.uncut]
        if removed:
            self._report(
                after, "struck-off", f"brokers {removed} are removed from the list, but have not confirmed their cuts"
            )

    def _check_outside_isr(self, after: PartitionSnapshot) -> None:
        """Check that a follower that returns and makes the demanded cut keeps nothing that the leader lacks."""
        leader, scene = after.partition, self._scene
        if all(replica in leader.isr for replica in leader.followers):
            return
        if not may_be_compacted(scene.plan, scene.account, after.cluster, after.mp.tp.topic, scene.now):
            foreign = has_foreign_epochs(after.context, leader)
            difference = find_kept_records(scene, after.cluster, leader, leader.required_cuts, foreign=foreign)
            if difference:
                self._report(after, "demands-too-little", difference)

    def _check_confirmed(self, after: PartitionSnapshot, before: PartitionSnapshot) -> None:
        """Check that a follower that has confirmed a cut has no later epoch from its leader's log start on."""
        start = after.partition.log.log_start_offset
        for replica, row in before.required_cuts.items():
            if replica in after.required_cuts:
                continue
            batches = batches_on_disk(self._scene.clusters[after.cluster], replica, after.partition) or ()
            readable = (batch for batch in batches if batch.last_offset >= start)
            later = next((batch for batch in readable if batch.partition_leader_epoch > row), None)
            if later is not None:
                text = f"broker {replica} counts as cut to epoch {row}, but has epoch {later.partition_leader_epoch}"
                self._report(after, "confirmed-early", f"{text} at offset {later.base_offset}")

    def _check_cut(self, after: PartitionSnapshot, before: PartitionSnapshot) -> None:
        """Check that all replicas are listed before a cut removes anything, and earlier fetches confirm nothing (D30,
        D35).
        """
        partition, epoch = after.partition, after.mp.cut_epoch
        early = [replica for replica in partition.followers if partition.has_confirmed(replica)]
        if early:
            self._report(after, "believed", f"brokers {early} count as cut in the event of the leader's own cut")
        if after.end < before.end and epoch is not None:
            free = [r for r in (SESSION, *partition.image.replicas) if after.uncut.get(r, epoch + 1) > epoch]
            if free:
                self._report(
                    after, "cut-unlisted", f"the leader cuts to epoch {epoch}, but rows {free} are not listed for that"
                )

    def _check_mirroring_begin(self, after: PartitionSnapshot) -> None:
        """Check that an unlisted replica has confirmed when MIRRORING begins, and has only records of the leader."""
        scene, tp = self._scene, after.mp.tp
        missing = self._finished.pop(after.key, None)
        if missing is None:  # It was requested and written in this event.
            missing = _missing(after)
        if missing:  # A replica that left the ISR while the state was being written does not count.
            self._report(
                after,
                "all-replicas",
                f"MIRRORING without brokers {missing} in the ISR, although {ALL_REPLICAS} is true",
            )
        late = [r for r in after.partition.followers if r not in after.uncut and not after.partition.has_confirmed(r)]
        if late:
            self._report(
                after, "late-not-listed", f"MIRRORING begins, but brokers {late} have not confirmed and are not listed"
            )
        if may_be_compacted(scene.plan, scene.account, after.cluster, tp.topic, scene.now):
            return
        for replica in after.partition.followers:
            batches = (
                None
                if replica in after.uncut
                else batches_on_disk(scene.clusters[after.cluster], replica, after.partition)
            )
            difference = "" if batches is None else find_extra_batch(after.partition.log, batches)
            if difference:
                self._report(
                    after,
                    "not-listed",
                    f"MIRRORING begins, but broker {replica}, which is not listed, has {difference}",
                )

    def _report(self, after: PartitionSnapshot, rule: str, text: str) -> None:
        self._rules.report(after.cluster, after.partition.broker_id, after.mp.tp, rule, text)


def _had_confirmed(after: PartitionSnapshot, before: PartitionSnapshot | None, replica: int) -> bool:
    """Return whether `replica` had confirmed its cut before its current row was written.

    One write begins MIRRORING, or a cut in it (D45, D63), removes the replicas that have confirmed from the list, and
    adds those that missed that cut.
    """
    return (
        before is not None
        and before.state in (MirrorState.PREPARING, MirrorState.MIRRORING)
        and after.state is MirrorState.MIRRORING
        and replica in before.uncut
        and replica not in before.required_cuts
    )


def _missing(after: PartitionSnapshot) -> list[int]:
    """Return the replicas outside the ISR if unclean elections are supported; else none."""
    missing = [r for r in after.partition.image.replicas if r not in after.partition.isr]
    if not missing or after.context.broker.image.configs.topic(after.mp.tp.topic).get(ALL_REPLICAS) != "true":
        return []
    return missing
