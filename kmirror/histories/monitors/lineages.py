"""Rules of lineages (D45), and of a mirror leader's knowledge of its source's log."""

from __future__ import annotations

from collections.abc import Sequence

from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.copies import copy_rows
from kmirror.histories.monitors.mirrored_partitions import PartitionSnapshot
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.monitors.sources import Sources
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.facts import LogCut
from kmirror.mirror.lineage import OWN_LINEAGE, Lineage
from kmirror.mirror.states import MirrorState

DIVERGING = "diverging epoch"
"""Prefix of the reason for a cut that follows from a fetch of the source."""


class LineageRules:
    """Judges lineages, and the leaders' knowledge of sources."""

    def __init__(self, scene: Scene, rules: Rules, sources: Sources) -> None:
        self._scene = scene
        self._rules = rules
        self._sources = sources
        self._lineages: dict[tuple[str, Uuid, int], tuple[int, Lineage, str, Instant]] = {}
        """Leader epoch in which a partition's lineage was last seen, the lineage, its mirror, and the time."""
        self._starts: dict[tuple[str, TopicPartition], tuple[int, int]] = {}
        """Leader epoch of a partition, and the log start when its leader learned of that epoch."""

    # -- log starts of leaders ----------------------------------------------------------------

    def record_starts(self, cluster: str, partitions: Sequence[Partition]) -> None:
        """Record the starts of the logs that a broker has just come to lead."""
        for partition in partitions:
            place = cluster, partition.tp
            if partition.is_leader and self._starts.get(place, (-1, 0))[0] < partition.leader_epoch:
                self._starts[place] = partition.leader_epoch, partition.log.log_start_offset

    def on_mirrors_deleted(self, cluster: str, mirrors: Sequence[str]) -> None:
        """Forget the lineages of deleted mirrors: from then on the configs of topics have them (D51)."""
        for key in [key for key, row in self._lineages.items() if key[0] == cluster and row[2] in mirrors]:
            del self._lineages[key]

    def forget(self, cluster: str, topic_id: Uuid) -> None:
        """Forget the lineages of a topic that was deleted."""
        for key in [key for key in self._lineages if key[:2] == (cluster, topic_id)]:
            del self._lineages[key]

    # -- mirrors ------------------------------------------------------------------------------

    def judge(self, after: PartitionSnapshot, before: PartitionSnapshot | None) -> None:
        """Check how an event changed a partition; `before` is None if the partition was not observed before."""
        if after.state is None:
            return
        if before is None or before.lineage is not after.lineage or before.state is None:
            self._check_lineage(after)
        if before is None or not after.state is MirrorState.MIRRORING is before.state:
            return
        if after.end > max(before.end, after.partition.log.log_start_offset):  # Otherwise the log is empty.
            self._check_append(after)

    def _check_lineage(self, after: PartitionSnapshot) -> None:
        """Check that a lineage is not lost or replaced by an earlier one, except with its mirror's states in a later
        epoch.
        """
        epoch, known, _, at = self._lineages.get(after.key, (-1, OWN_LINEAGE, "", 0))
        if after.partition.leader_epoch < epoch:
            return  # A deposed leader does not know the current lineage.
        topic = self._scene.image(after.cluster).topics.get(after.partition.tp.topic)
        if topic is None or topic.topic_id != after.partition.topic_id:
            return  # It was deleted, which its leader does not know yet; the next topic may have its id.
        mirror, instant = after.mp.assignment.mirror, self._scene.now
        self._lineages[after.key] = after.partition.leader_epoch, after.lineage, mirror, instant
        # A leader that lost the states continues only in a later epoch: otherwise its mirrors would not notice (D68).
        is_known = after.partition.leader_epoch > epoch and self._scene.account.may_have_lost_states(
            after.cluster, at, instant
        )
        if after.lineage.valid_from_epoch < known.valid_from_epoch and not is_known:
            text = (
                f"a lineage since epoch {after.lineage.valid_from_epoch} follows one since epoch "
                f"{known.valid_from_epoch}"
            )
            self._report(after.cluster, after.partition, "lineage-lost", text)

    def _check_append(self, after: PartitionSnapshot) -> None:
        """Check the leader epoch of appended records against the lineage, and the known source offset against the
        source.
        """
        mp, partition = after.mp, after.partition
        if partition.leader_epoch < after.lineage.valid_from_epoch:
            text = f"mirrored up to {after.end} in leader epoch {partition.leader_epoch}, but the lineage holds"
            self._report(
                after.cluster, partition, "below-lineage", f"{text} from epoch {after.lineage.valid_from_epoch} on"
            )
        source = self._sources.source_leader(after)
        if source is not None and mp.source_offset > source.log.high_watermark:
            text = f"the source's high watermark is taken as {mp.source_offset}, but is {source.log.high_watermark}"
            self._report(after.cluster, partition, "source-offset", text)
        self._check_copy(after)

    def _check_copy(self, after: PartitionSnapshot) -> None:
        """Check that appended records belong to the copy that the source, if it is a mirror, has begun (D69)."""
        name = self._sources.source_cluster(after.context, after.mp.assignment.mirror)
        source, tp = self._scene.leader(name, after.mp.tp) if name else None, after.mp.tp
        if source is None or source.leader_epoch != after.mp.source_lineage_epoch:
            return
        context = self._scene.mirror_context(name, source.broker_id)
        known = None if context is None else context.partitions.get(tp)
        if (
            context is None
            or known is None
            or known.state is None
            or known.lineage.valid_from_epoch > source.leader_epoch
        ):
            return  # Without its state it does not know its lineage either.
        source_id = self._scene.clusters[name].cluster_id
        theirs, followed = (
            copy_rows(rows, source_id) for rows in (context.writers_of(tp), after.context.writers_of(tp))
        )
        if theirs != followed:
            text = f"mirrored up to {after.end} of {name}'s copy {list(theirs)}, and followed {list(followed)}"
            self._report(after.cluster, after.partition, "copy-not-followed", text)

    def on_log_cut(self, cluster: str, leader: Partition, fact: LogCut) -> None:
        """Check a leader's knowledge of its source after a response with a divergence.

        A log that was emptied by a cut may begin at a lower offset afterwards.
        """
        self._starts[cluster, fact.tp] = leader.leader_epoch, 0
        context = self._scene.mirror_context(cluster, leader.broker_id)
        mp = None if context is None else context.partitions.get(fact.tp)
        if context is None or mp is None or not fact.why.startswith(DIVERGING):
            return
        source = self._sources.source_cluster(context, mp.assignment.mirror)
        epoch, start = self._starts.get((source, fact.tp), (-1, 0))
        if epoch == mp.source_epoch and mp.source_log_start < start:
            text = f"the source's log start is taken as {mp.source_log_start}, but was {start} in epoch {epoch}"
            self._report(cluster, leader, "source-start", text)

    def _report(self, cluster: str, leader: Partition, rule: str, text: str) -> None:
        self._rules.report(cluster, leader.broker_id, leader.tp, rule, text)
