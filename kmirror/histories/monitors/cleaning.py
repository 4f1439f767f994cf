"""Rules of the cleaner: the records that a run may remove from a compacted log.

All appended records of a log are noted. After a run, each removed record must be superseded by a later committed one of
its key, belong to an aborted transaction, or be a tombstone that an earlier run has seen `delete.retention.ms` ago. No
removed record may be above the last stable offset, or in the active segment.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.facts import LogCompacted
from kmirror.histories.monitors.log_model import LogModel
from kmirror.histories.monitors.log_rules import Violations
from kmirror.histories.monitors.rules import Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import to_ms
from kmirror.kernel.ids import TopicPartition
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType

SLACK_MS = 1_000
"""A run takes some time, and its result is known only at its end."""
LONG_AGO = -(1 << 62)


@dataclass(slots=True)
class KnownRecords:
    """The records of one log."""

    model: LogModel
    batches: int = 0
    """Number of recorded batches."""
    keys: dict[int, bytes] = field(default_factory=dict)
    """Offset to key."""
    tombstones: dict[int, int | None] = field(default_factory=dict)
    """Offset to the time when the tombstone may be removed; None until a run has seen it."""
    open: dict[int, list[int]] = field(default_factory=dict)
    """Producer id to the offsets of its undecided transaction."""
    aborted: dict[int, None] = field(default_factory=dict)

    def read(self) -> None:
        """Record the records that the model has just read."""
        self.batches += len(self.model.new)
        for written in self.model.new:
            batch = Batch(self.model.log.store.view(written.segment), written.position)
            if batch.is_control:
                control = batch.control()
                decided = self.open.pop(batch.producer_id, ()) if control is not None else ()
                if control is not None and control.type is ControlType.MIRROR_PID_RESET:
                    self.open.clear()
                elif control is not None and control.type is ControlType.ABORT:
                    self.aborted.update(dict.fromkeys(decided))
                continue
            for record in batch.records():
                if record.key is None:
                    continue  # It is older than the compaction of its topic, and is removed by the first run.
                self.keys[record.offset] = record.key
                if record.value is None:
                    self.tombstones[record.offset] = LONG_AGO if batch.delete_horizon_ms is not None else None
                if batch.is_transactional:
                    self.open.setdefault(batch.producer_id, []).append(record.offset)

    @property
    def is_complete(self) -> bool:
        """Return whether all batches were recorded; those from before the topic was compacted are missing."""
        return self.batches == self.model.batches

    def removal_violations(self, end_offset: int, now_ms: int) -> Violations:
        """Judge the records that a run up to `end_offset` has removed."""
        log = self.model.log
        remaining = {
            record.offset: None
            for batch in log.batches(log.segments[0].base_offset)
            if not batch.is_control
            for record in batch.records()
        }
        bound = min(log.last_stable_offset, log.segments.active.base_offset)
        latest = self._latest(bound)
        for offset in [offset for offset in self.keys if offset not in remaining]:
            if offset >= log.log_start_offset:
                yield from self._judge(offset, bound, latest, now_ms)
            self.aborted.pop(offset, None)
            self.tombstones.pop(offset, None)
            del self.keys[offset]
        for offset, removable_at in self.tombstones.items():
            if removable_at is None and offset < end_offset:
                self.tombstones[offset] = now_ms + log.config.delete_retention_ms

    def _latest(self, bound: int) -> dict[bytes, int]:
        """Return the last committed record of each key below `bound`."""
        undecided = {offset: None for offsets in self.open.values() for offset in offsets}
        return {
            key: offset
            for offset, key in self.keys.items()
            if offset < bound and offset not in self.aborted and offset not in undecided
        }

    def _judge(self, offset: int, bound: int, latest: dict[bytes, int], now_ms: int) -> Iterator[tuple[str, str]]:
        if offset >= bound:
            yield (
                "cleaned-above",
                f"the record at offset {offset} was removed by the cleaner, which may only clean below {bound}",
            )
            return
        key = self.keys[offset]
        if offset in self.aborted or latest.get(key, -1) > offset:
            return
        if offset not in self.tombstones:
            yield (
                "cleaned-latest",
                f"the record at offset {offset} was removed by the cleaner, but is the latest of its key",
            )
            return
        removable_at = self.tombstones[offset]
        if removable_at is None or now_ms + SLACK_MS < removable_at:
            text = f"the tombstone at offset {offset} was removed by the cleaner at {now_ms}"
            yield (
                "cleaned-tombstone",
                f"{text}, before any run had processed it" if removable_at is None else f"{text}, not {removable_at}",
            )


class CleanerMonitor:
    """Judges runs of the cleaner at leaders."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._logs: dict[tuple[str, int, TopicPartition], KnownRecords] = {}

    def on_log_read(self, cluster: str, leader: Partition, model: LogModel, *, from_start: bool) -> None:
        """Record the records appended to a compacted log, or all of them with `from_start`."""
        key = cluster, leader.broker_id, leader.tp
        known = self._logs.get(key)
        if known is None or known.model is not model:
            if not from_start:
                return  # It has become compacted now; earlier records are not known.
            known = self._logs[key] = KnownRecords(model)
        known.read()

    def on_compacted(self, cluster: str, broker_id: int, fact: LogCompacted) -> None:
        """Check a log from which a run of the cleaner has just removed records."""
        known = self._logs.get((cluster, broker_id, fact.tp))
        broker = self._scene.clusters[cluster].broker(broker_id)
        leader = broker.parts.replicas.partitions.find_led(fact.tp)
        if known is None or leader is None or not known.is_complete or not known.model.is_current(leader.log):
            return
        now_ms = to_ms(self._scene.local_time(cluster, broker_id))
        for rule, text in known.removal_violations(fact.end_offset, now_ms):
            self._rules.report(cluster, broker_id, fact.tp, rule, text)
