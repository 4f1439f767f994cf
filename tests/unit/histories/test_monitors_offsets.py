"""The rules of committed offsets, each with a kept and a broken case."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from kmirror.cluster.coordinators.groups.offsets import Committed, OffsetKey, Offsets, tombstone
from kmirror.cluster.coordinators.groups.state import GroupShard
from kmirror.cluster.coordinators.runtime import KeyValue
from kmirror.cluster.coordinators.shard_state import LoggedRecord
from kmirror.histories.account import TopicChange
from kmirror.histories.monitors.offsets import MINUTE_MS, OffsetMonitor
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.offset_delete_request import OffsetDeleteRequest
from kmirror.records.batch import Batch, iter_batches
from kmirror.records.build import build_batch
from kmirror.records.control import end_txn_marker
from kmirror.records.record import RecordData
from kmirror.spec.topics import GROUP_TOPIC
from tests.unit.histories.monitors import TP, FakeScene, Link, ask, broken_rules, rules_of

SHARD = TopicPartition(GROUP_TOPIC, 0)
NAME = OffsetKey("g", TP)
PRODUCER = 7
RETENTION_MINUTES = 10


class Log:
    """A log that only grows."""

    log_start_offset = 0

    def __init__(self) -> None:
        self.held: list[Batch] = []

    @property
    def log_end_offset(self) -> int:
        """Return the next offset."""
        return self.held[-1].last_offset + 1 if self.held else 0

    def batches(self, start: int) -> Iterator[Batch]:
        """Yield the batches from an offset on."""
        return (batch for batch in self.held if batch.base_offset >= start)


class Stage:
    """One shard, and the broker that leads it."""

    def __init__(self) -> None:
        self.scene = FakeScene()
        self.monitor = OffsetMonitor(self.scene, rules_of(self.scene))  # type: ignore[arg-type]
        self.shard, self.log = GroupShard(), Log()
        runtime = SimpleNamespace(led_states=lambda: {0: self.shard})
        replicas = SimpleNamespace(partitions={SHARD: SimpleNamespace(log=self.log)})
        configs = SimpleNamespace(integer={"offsets.retention.minutes": RETENTION_MINUTES}.__getitem__)
        components = SimpleNamespace(get=lambda kind: SimpleNamespace(runtime=runtime))
        self.broker = SimpleNamespace(
            context=SimpleNamespace(node_id=1, configs=configs),
            parts=SimpleNamespace(components=components, replicas=replicas),
        )
        self.handle()

    def handle(self) -> None:
        """Observe enough events of the broker for one check."""
        for _ in range(OffsetMonitor.EVERY):
            self.monitor.broker_handled("a", self.broker)  # type: ignore[arg-type]

    def write(self, record: KeyValue, *, producer_id: int = -1, at_ms: int = 0) -> None:
        """Append a record, and let the shard apply it."""
        end, (key, value) = self.log.log_end_offset, record
        rows = [RecordData(key=key, value=value, timestamp=at_ms)]
        self.log.held += iter_batches(
            build_batch(rows, base_offset=end, producer_id=producer_id, is_transactional=producer_id >= 0)
        )
        self.shard.replay(LoggedRecord(key, value, end, producer_id))
        self.handle()

    def commit(self, offset: int, *, producer_id: int = -1) -> None:
        """Commit an offset."""
        self.write(Committed(offset, -1, "", 0).record(NAME), producer_id=producer_id)

    def end(self, *, commit: bool) -> None:
        """End the producer's transaction."""
        end = self.log.log_end_offset
        marker = end_txn_marker(
            base_offset=end,
            leader_epoch=0,
            timestamp_ms=0,
            producer_id=PRODUCER,
            producer_epoch=0,
            commit=commit,
            coordinator_epoch=0,
        )
        self.log.held += iter_batches(marker)
        self.shard.end_transaction(PRODUCER, commit=commit)
        self.handle()

    @property
    def broken(self) -> list[str]:
        """The broken rules."""
        return broken_rules(self.scene)


@pytest.mark.parametrize("commit", [True, False])
def test_a_shard_loaded_from_its_log_breaks_no_rule(commit: bool) -> None:
    stage = Stage()
    stage.commit(1)
    stage.commit(2, producer_id=PRODUCER)
    stage.commit(3)
    stage.end(commit=commit)
    stage.commit(4, producer_id=PRODUCER)
    stage.end(commit=commit)
    assert stage.broken == []


def test_an_older_commit_does_not_replace_a_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.commit(2, producer_id=PRODUCER)
    stage.commit(3)

    def end_transaction(self: Offsets, producer_id: int, *, commit: bool) -> None:
        pending = self._pending.get((producer_id, NAME))
        assert pending is not None
        self._put(NAME, pending)

    monkeypatch.setattr(Offsets, "end_transaction", end_transaction)
    stage.end(commit=True)
    assert "offset-committed" in stage.broken


def test_an_abort_leaves_no_pending_offsets(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    stage.commit(2, producer_id=PRODUCER)
    monkeypatch.setattr(Offsets, "end_transaction", lambda self, producer_id, *, commit: None)
    stage.end(commit=False)
    assert stage.broken == ["offset-pending"]


def test_an_offset_is_not_removed_without_a_reason() -> None:
    stage = Stage()
    stage.commit(1)
    stage.write(tombstone(NAME), at_ms=RETENTION_MINUTES * MINUTE_MS - 1)
    assert stage.broken == ["offset-removed"]


def test_an_offset_expires() -> None:
    stage = Stage()
    stage.commit(1)
    stage.write(tombstone(NAME), at_ms=RETENTION_MINUTES * MINUTE_MS)
    assert stage.broken == []


def test_an_offset_is_removed_by_an_order() -> None:
    stage = Stage()
    stage.commit(1)
    ask(stage.monitor, Link("operator@a"), OffsetDeleteRequest(group_id="g"), version=0)
    stage.write(tombstone(NAME))
    assert stage.broken == []


def test_an_offset_is_removed_with_its_topic() -> None:
    stage = Stage()
    stage.commit(1)
    stage.scene.account.topics.append(TopicChange("a", TP.topic, "", False, 0))
    stage.write(tombstone(NAME))
    assert stage.broken == []
