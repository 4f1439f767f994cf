"""Rules of compacted logs that a mirror copies from scratch while it is MIRRORING.

A copy costs the whole log, at every mirror down the chain (D69). A leader may begin one if its log and the source's
have diverged and the cleaner has passed the cut (D63), or if tombstones may have come and gone since the two were in
step (D64): `delete.retention.ms` have passed, and some offset above the log end is in no record of the source. In the
latter case it must.
"""

from __future__ import annotations

from kmirror.histories.compaction import clocks_differ_by
from kmirror.histories.monitors.mirrored_partitions import PartitionSnapshot
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.monitors.sources import Sources
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND, Instant, to_ms
from kmirror.kernel.uuid import Uuid
from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.lineage import Stretches
from kmirror.mirror.missed_deletions import COPY_UNDER_WAY
from kmirror.mirror.states import MirrorState


class CopyRules:
    """Judges leaders when they decide to copy a log again, when they begin, and when they continue without."""

    def __init__(self, scene: Scene, rules: Rules, sources: Sources) -> None:
        self._scene = scene
        self._rules = rules
        self._sources = sources
        self._caught_up: dict[tuple[str, Uuid, int], Instant] = {}
        """Latest time at which a leader, MIRRORING since then, was seen to have all available records."""
        self._behind: set[tuple[str, Uuid, int]] = set()
        """Logs that lacked available records of the source at their last change."""
        self._needless: dict[tuple[str, Uuid, int], str] = {}
        """Reason why a copy would be needless, at the last time when the leader began to write a state."""

    def judge(self, after: PartitionSnapshot, before: PartitionSnapshot | None) -> None:
        """Check how an event changed a partition; `before` is None if the partition was not observed before."""
        if before is None or (after.state, before.state) != (MirrorState.MIRRORING, MirrorState.MIRRORING):
            self._caught_up.pop(after.key, None)
            self._behind.discard(after.key)
            self._needless.pop(after.key, None)
            return
        if after.end > before.end > after.partition.log.log_start_offset and 0 <= before.caught_up_ms < COPY_UNDER_WAY:
            self._check_append(after, before)
        if after.busy and not before.busy:
            self._needless[after.key] = self._needless_reason(after)
        elif self._begins_copy(after, before) and self._needless.get(after.key):
            node, text = after.partition.broker_id, f"copies from scratch, although {self._needless[after.key]}"
            self._rules.report(after.cluster, node, after.mp.tp, "copied-needlessly", text)
        self._behind.discard(after.key)
        source, fetcher = self._sources.source_leader(after), after.mp.fetcher
        if source is None or fetcher is None or fetcher.key[1] != source.broker_id:
            return
        if after.end >= source.log.last_stable_offset:  # The leader knows this only by that leader's response.
            local = self._scene.local_time(after.cluster, after.partition.broker_id)
            answered = self._scene.now - (local - fetcher.answered_at)
            self._caught_up[after.key] = max(self._caught_up.get(after.key, 0), answered)
        else:
            self._behind.add(after.key)

    def forget(self, cluster: str, topic_id: Uuid) -> None:
        """Forget the logs of a topic that was deleted."""
        for known in (self._caught_up, self._needless):
            for key in [key for key in known if key[:2] == (cluster, topic_id)]:
                del known[key]

    def _begins_copy(self, after: PartitionSnapshot, before: PartitionSnapshot) -> bool:
        """Return whether the lineage has another copy row of this cluster, and is otherwise unchanged."""
        rows, known = after.lineage.stretches, before.lineage.stretches
        own = self._scene.clusters[after.cluster].cluster_id
        return copy_rows(rows, own) != copy_rows(known, own) and _other_rows(rows, own) == _other_rows(known, own)

    def _check_append(self, after: PartitionSnapshot, before: PartitionSnapshot) -> None:
        """Check that no records are appended after offsets at which tombstones may have come and gone (D64)."""
        log, local = after.partition.log, self._scene.local_time(after.cluster, after.partition.broker_id)
        behind_ms, stay_ms = to_ms(local) - before.caught_up_ms, log.config.delete_retention_ms
        if after.key not in self._behind and after.mp.fetcher is not None:
            # Empty responses have confirmed that since; the leader records it with the next batch.
            behind_ms = min(behind_ms, to_ms(local - after.mp.fetcher.confirmed_at))
        if behind_ms >= stay_ms and _lacks_offsets(log, before.end):
            text = (
                f"appended [{before.end}, {after.end}), across missing offsets, {behind_ms} ms after the log was in "
                f"step, but tombstones are kept for {stay_ms} ms"
            )
            self._rules.report(after.cluster, after.partition.broker_id, after.mp.tp, "deletions-missed", text)

    def _needless_reason(self, after: PartitionSnapshot) -> str:
        """Return why the log can continue without a copy; empty if it cannot, or if that is uncertain."""
        scene, source = self._scene, self._sources.source_leader(after)
        if source is None or any(map(scene.release, scene.clusters)) or clocks_differ_by(scene.plan):
            return ""
        if _has_diverged(after.partition.log, source.log):
            return ""
        if not _lacks_offsets(source.log, after.end):
            return f"the source has every offset from the log end, {after.end}, on"
        stay_ms = after.partition.log.config.delete_retention_ms
        behind = scene.now - self._caught_up.get(after.key, scene.now - stay_ms * MILLISECOND)
        if behind < stay_ms * MILLISECOND:
            return f"it was level {behind // MILLISECOND} ms before, but tombstones are kept for {stay_ms} ms"
        return ""


def copy_rows(rows: Stretches, cluster_id: str) -> Stretches:
    """Return the row of the copy that a cluster has begun, if there is one (D69)."""
    return tuple(row for row in rows if row.first_epoch < 0 and row.cluster_id == cluster_id)


def _other_rows(rows: Stretches, cluster_id: str) -> Stretches:
    return tuple(row for row in rows if row.first_epoch >= 0 or row.cluster_id != cluster_id)


def _has_diverged(mirror_log: PartitionLog, source: PartitionLog) -> bool:
    """Return whether the source's log lacks an epoch of ours, or ends it at a lower offset."""
    latest = mirror_log.epochs.latest_epoch()
    return source.end_offset_for_epoch(latest) < (latest, mirror_log.log_end_offset)


def _lacks_offsets(log: PartitionLog, start: int) -> bool:
    """Return whether some offset from `start` to the log end is in no record."""
    found = {record.offset for batch in log.batches(start) for record in batch.records()}
    return any(offset not in found for offset in range(start, log.log_end_offset))
