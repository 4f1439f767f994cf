"""Rules of committed offsets: a coordinator's state equals that of its log, and offsets are not removed without a
reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.coordinators.groups.coordinator import GroupCoordinator
from kmirror.cluster.coordinators.groups.offsets import OffsetKey
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.histories.monitors.frames import FrameMonitor, PendingRequest
from kmirror.histories.monitors.rules import Monitor, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.ids import TopicPartition
from kmirror.log.partition_log import PartitionLog
from kmirror.protocol.gen.delete_groups_request import DeleteGroupsRequest
from kmirror.protocol.gen.offset_commit_key import OffsetCommitKey
from kmirror.protocol.gen.offset_commit_value import OffsetCommitValue
from kmirror.protocol.gen.offset_delete_request import OffsetDeleteRequest
from kmirror.protocol.keyed_records import decode_record
from kmirror.records import layout
from kmirror.records.batch import Batch
from kmirror.records.control import ControlType
from kmirror.spec.topics import GROUP_TOPIC

MINUTE_MS = 60_000
OFFSET_COMMIT = OffsetCommitKey.API_KEY
MARKERS = (ControlType.COMMIT, ControlType.ABORT)


class _CommitRecord(NamedTuple):
    """Record of a commit."""

    record_offset: int
    committed_ms: int
    expires_ms: int


@dataclass(slots=True)
class _Model:
    """State derived from one shard's log, by the rules of Kafka's OffsetMetadataManager."""

    shard: GroupShard
    """Shard object of the coordinator's current term."""
    end: int = 0
    """Offset up to which the log was read, exclusive."""
    committed: dict[OffsetKey, _CommitRecord] = field(default_factory=dict)
    pending: dict[OffsetKey, dict[int, _CommitRecord]] = field(default_factory=dict)
    """Commits that wait for a marker, by key and producer id."""
    touched: dict[OffsetKey, None] = field(default_factory=dict)
    """Keys that have changed since the last check."""
    removed: dict[OffsetKey, tuple[_CommitRecord, int]] = field(default_factory=dict)
    """Commits removed by a tombstone since the last check, with the tombstone's time."""

    def read(self, batch: Batch) -> None:
        """Apply one batch of the log."""
        self.end = batch.last_offset + 1
        if batch.is_control:
            control = batch.control()
            if control is not None and control.type in MARKERS:
                self._end_transaction(batch.producer_id, commit=control.type is ControlType.COMMIT)
            return
        for record in batch.records():
            if record.key is not None and int.from_bytes(record.key[:2], "big") == OFFSET_COMMIT:
                key, value, _ = decode_record(GROUP_TOPIC, record.key, record.value)
                assert isinstance(key, OffsetCommitKey), "by its type"
                name = OffsetKey(key.group, TopicPartition(key.topic, key.partition))
                self._apply(name, value, record.offset, batch)

    def _apply(self, name: OffsetKey, value: object, offset: int, batch: Batch) -> None:
        self.touched[name] = None
        if not isinstance(value, OffsetCommitValue):
            before = self.committed.pop(name, None)
            self.pending.pop(name, None)
            if before is not None:
                self.removed[name] = before, batch.max_timestamp
            return
        row = _CommitRecord(offset, value.commit_timestamp, value.expire_timestamp)
        if batch.producer_id == layout.NO_PRODUCER_ID:
            self.committed[name] = row
        else:
            self.pending.setdefault(name, {})[batch.producer_id] = row

    def _end_transaction(self, producer_id: int, *, commit: bool) -> None:
        for name in [name for name, rows in self.pending.items() if producer_id in rows]:
            row = self.pending[name].pop(producer_id)
            self.touched[name] = None
            before = self.committed.get(name)
            if commit and (before is None or before.record_offset < row.record_offset):
                self.committed[name] = row


class OffsetMonitor(FrameMonitor, Monitor):
    """Judges the offsets of coordinators whenever the log of a shard has grown."""

    APIS = ("OffsetDelete", "DeleteGroups")
    EVERY = 8
    """The state must agree with the log after every event, so it is enough to check some of them."""

    def __init__(self, scene: Scene, rules: Rules) -> None:
        self._scene = scene
        self._rules = rules
        self._models: dict[tuple[str, int, int], _Model] = {}
        """Models by cluster, broker and partition."""
        self._ordered: dict[tuple[str, str], None] = {}
        """(cluster, group) whose deletion, or that of some of its offsets, was requested."""

    # -- frames -------------------------------------------------------------------------------

    def on_request(self, pending: PendingRequest) -> None:
        """Record the groups of requests that delete offsets."""
        if isinstance(pending.body, OffsetDeleteRequest):
            self._ordered[pending.cluster, pending.body.group_id] = None
        elif isinstance(pending.body, DeleteGroupsRequest):
            self._ordered.update({(pending.cluster, group): None for group in pending.body.groups_names})

    # -- coordinators -------------------------------------------------------------------------

    def broker_handled(self, cluster: str, broker: Broker) -> None:
        for partition, shard in broker.parts.components.get(GroupCoordinator).runtime.led_states().items():
            key = cluster, broker.context.node_id, partition
            model, tp = self._models.get(key), TopicPartition(GROUP_TOPIC, partition)
            led = broker.parts.replicas.partitions.get(tp)
            if led is None or (model is not None and model.shard is shard and model.end == led.log.log_end_offset):
                continue
            is_new = model is None or model.shard is not shard
            if is_new:
                model = self._models[key] = _Model(shard)
            assert model is not None, "made"
            self._read_new_batches(model, led.log)
            if is_new:
                model.removed.clear()  # The previous coordinator was judged for those.
            for rule, text in self._violations(cluster, broker, model):
                self._rules.report(cluster, broker.context.node_id, tp, rule, text)

    def _read_new_batches(self, model: _Model, log: PartitionLog) -> None:
        for batch in log.batches(max(model.end, log.log_start_offset)):
            model.read(batch)
        model.end = log.log_end_offset

    def _violations(self, cluster: str, broker: Broker, model: _Model) -> Iterator[tuple[str, str]]:
        """Yield the rules that a coordinator's state breaks."""
        offsets = model.shard.offsets
        for name in model.touched:
            row, found = model.committed.get(name), offsets.latest(name)
            logged, stored = -1 if row is None else row.record_offset, -1 if found is None else found.record_offset
            if logged != stored:
                log_text = f"the log has it at {logged}" if logged >= 0 else "the log has none"
                yield (
                    "offset-committed",
                    f"{name.group} for {name.tp}: the record at {stored} is in force, but {log_text}",
                )
            waiting, known = sorted(model.pending.get(name, ())), sorted(offsets.producers(name))
            if waiting != known:
                text = f"of producers {known} offsets are pending, but the log has {waiting}"
                yield "offset-pending", f"{name.group} for {name.tp}: {text}"
        for name, (row, removed_ms) in model.removed.items():
            if not self._may_be_removed(cluster, broker, name, row, removed_ms):
                yield "offset-removed", f"{name.group} for {name.tp}: no request deleted it, and it has not expired"
        model.touched.clear()
        model.removed.clear()

    def _may_be_removed(
        self, cluster: str, broker: Broker, name: OffsetKey, row: _CommitRecord, removed_ms: int
    ) -> bool:
        """Return whether a commit may have been removed: by a request, with its topic, or by its age."""
        if (cluster, name.group) in self._ordered:
            return True
        topics = self._scene.account.topics
        if any(t.cluster == cluster and t.topic == name.tp.topic and not t.exists for t in topics):
            return True
        retention_ms = broker.context.configs.integer("offsets.retention.minutes") * MINUTE_MS
        expires_ms = row.committed_ms + retention_ms if row.expires_ms < 0 else row.expires_ms
        return removed_ms >= expires_ms
