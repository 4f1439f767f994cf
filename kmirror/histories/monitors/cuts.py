"""Rules of the cut in PREPARING, and of the common part of a mirrored log and its source's (D11, D25, D45, D56)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kmirror.cluster.node.partition import Partition
from kmirror.histories.compaction import may_be_compacted
from kmirror.histories.describing import persisted_states
from kmirror.histories.monitors.mirrored_partitions import PartitionSnapshot
from kmirror.histories.monitors.replica_returns import converge, find_extra_batch
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.monitors.sources import Sources
from kmirror.histories.scene import Scene
from kmirror.kernel.uuid import Uuid
from kmirror.log.compare import compare, parting
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.lineage import shared_epoch
from kmirror.mirror.state_records import StateKey
from kmirror.mirror.states import MirrorState


@dataclass(frozen=True, slots=True)
class _Row:
    """Identity of a batch."""

    offset: int
    last_offset: int
    epoch: int
    crc: int


class CutRules:
    """Judges the leader's log after a cut, when MIRRORING begins, and while it mirrors."""

    def __init__(self, scene: Scene, rules: Rules, sources: Sources) -> None:
        self._scene = scene
        self._rules = rules
        self._sources = sources
        self._uncut: dict[tuple[str, Uuid, int], list[_Row]] = {}
        """Log of a leader in PREPARING before its cut."""
        self._compared: dict[tuple[str, Uuid, int], int] = {}
        """Leader epoch in which a log was seen to agree with its source's."""

    def judge(self, after: PartitionSnapshot, before: PartitionSnapshot | None) -> None:
        """Check how an event changed a partition; `before` is None if the partition was not observed before."""
        previous = None if before is None else before.state
        if before is not None and after.end < before.end:
            self._compared.pop(after.key, None)
        if after.state is MirrorState.PREPARING:
            if after.cut_at is None:
                if previous is not MirrorState.PREPARING:
                    self._uncut[after.key] = _rows(after.partition.log)
            elif before is not None and before.cut_at is None:
                self._check_cut(after)
        elif after.state is MirrorState.MIRRORING and before is not None:
            if previous is MirrorState.PREPARING:
                self._check_begin(after)
            elif previous is MirrorState.MIRRORING and after.end > before.end and self._must_compare(after):
                self._check_copy(after)

    def forget(self, cluster: str, topic_id: Uuid) -> None:
        """Forget the logs of a topic that was deleted."""
        for key in [key for key in self._uncut if key[:2] == (cluster, topic_id)]:
            del self._uncut[key]

    def _must_compare(self, after: PartitionSnapshot) -> bool:
        """Return whether a log was cut, or got another leader, since it was compared with the source's."""
        epoch = after.partition.leader_epoch
        known, self._compared[after.key] = self._compared.get(after.key), epoch
        return known != epoch

    def _check_cut(self, after: PartitionSnapshot) -> None:
        """Check a cut: it keeps the common part settled by both clusters; without one, nothing (D56)."""
        log, rows = after.partition.log, self._uncut.pop(after.key, [])
        if 0 < log.log_start_offset == after.end:
            self._report(
                after, "empty-above-0", f"PREPARING removed a whole log, which now begins at {after.end}, not at 0"
            )
        source = self._source(after)
        if source is None or source.leader_epoch != after.mp.source_lineage_epoch:
            return
        end = _common_end(rows, source.log, self._settled(after, source))
        if end > after.end:
            text = (
                f"PREPARING cut at {after.end}, but both logs had the same records up to {end}, "
                f"which a stop had settled"
            )
            self._report(after, "cut-too-deep", text)

    def _settled(self, after: PartitionSnapshot, source: Partition) -> int:
        """Return the last epoch that may be kept: the greater one that a stop of either side settled (D31, D39)."""
        mp, scene, cluster = (
            after.mp,
            self._scene,
            self._sources.source_cluster(after.context, after.mp.assignment.mirror),
        )
        found = after.context.sources.get(mp.assignment.mirror)
        topic = None if found is None else found.topics.get(mp.tp.topic)
        is_same = topic is not None and topic.topic_id == mp.topic_id
        own = mp.last_mirrored_epoch if is_same else -1
        key, theirs = StateKey(mp.assignment.mirror, source.topic_id, mp.tp.partition), -1
        context = scene.mirror_context(cluster, source.broker_id)
        if context is not None and self._sources.source_cluster(context, mp.assignment.mirror) == after.cluster:
            states = [state for other, state in persisted_states(scene, cluster) if other == key]
            settled = [row.last_mirrored_epoch for row in states if row.state is MirrorState.STOPPED]
            theirs = max(settled, default=-1)
        shared = shared_epoch(after.context.writers_of(mp.tp), after.context.source_writers_of(mp))
        return max(own, theirs) if shared is None else min(max(own, theirs), shared)

    def _check_begin(self, after: PartitionSnapshot) -> None:
        """Check that the source has all batches of a log when MIRRORING begins, except those cut by its first
        responses.
        """
        source = self._source(after)
        if source is None or source.leader_epoch != after.mp.source_lineage_epoch:
            return
        mirrored = self._scene.mirror_context(self._sources.source_cluster(after.context, after.mp.assignment.mirror),
                                              source.broker_id)  # fmt: skip
        foreign = mirrored is not None and after.mp.tp in mirrored.partitions
        log = after.partition.log
        remaining = converge(source.log, list(log.batches(log.log_start_offset)), foreign=foreign)
        difference = find_extra_batch(source.log, remaining)
        if difference:
            self._report(after, "mirrors-foreign", f"MIRRORING begins with {difference} (the leader is the source's)")

    def _check_copy(self, after: PartitionSnapshot) -> None:
        """Check that a log after a fetch has exactly the source's batches below its end."""
        source = self._source(after)
        if source is None:
            return
        one, other = source.log, after.partition.log
        start, until = max(one.log_start_offset, other.log_start_offset), after.end
        if one.high_watermark < until:
            self._report(
                after, "beyond-source", f"mirrored up to {until}, but the source has committed {one.high_watermark}"
            )
            return
        # Without a common range nothing was fetched yet; the source's first batch may begin below its log start.
        parted = None if start >= until else compare(one.batches(start, until), other.batches(start, until)).parted
        if parted is not None:
            self._report(
                after, "unlike-source", f"the mirrored log differs from the source at {parting(parted).offset}"
            )

    def _source(self, after: PartitionSnapshot) -> Partition | None:
        """Return the source's leader if its log can be compared with ours."""
        scene, topic = self._scene, after.mp.tp.topic
        for name in scene.clusters:
            if scene.release(name) or may_be_compacted(scene.plan, scene.account, name, topic, scene.now):
                return None
        return self._sources.source_leader(after)

    def _report(self, after: PartitionSnapshot, rule: str, text: str) -> None:
        self._rules.report(after.cluster, after.partition.broker_id, after.mp.tp, rule, text)


def _rows(log: PartitionLog) -> list[_Row]:
    return [
        _Row(batch.base_offset, batch.last_offset, batch.partition_leader_epoch, batch.crc)
        for batch in log.batches(log.log_start_offset)
    ]


def _common_end(rows: Sequence[_Row], source: PartitionLog, epoch: int) -> int:
    """Return the end of the range that a log shares with the source's, up to `epoch`; 0 if there is none."""
    theirs = {row.offset: row for row in _rows(source)}
    end, start = 0, source.log_start_offset
    for row in rows:
        if row.epoch > epoch or (row.offset >= start and theirs.get(row.offset) != row):
            break
        if row.offset >= start:
            end = row.last_offset + 1
    return end
