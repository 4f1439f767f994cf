"""The rules of the cleaner accept correct runs, and report runs that remove too much."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kmirror.cluster.replication.facts import LogCompacted
from kmirror.histories.monitors.cleaning import CleanerMonitor, KnownRecords
from kmirror.histories.monitors.log_model import LogModel
from kmirror.kernel.clock import MILLISECOND
from kmirror.log import cleaner
from kmirror.log.cleanable import cleanable
from kmirror.log.partition_log import PartitionLog
from tests.builders import NOW_MS, batch_of
from tests.unit.histories.monitors import TP, FakeScene, broken_rules, rules_of
from tests.unit.log.partitions import follow
from tests.unit.log.test_cleaner import DAY, compacted, end, put, roll, txn


class Stage:
    """A compacted log, and a recorder of its records."""

    def __init__(self) -> None:
        self.log: PartitionLog = compacted()
        self.known = KnownRecords(LogModel(self.log))

    def clean(self, now_ms: int = NOW_MS, **bounds: Any) -> list[str]:
        """Run the cleaner, and return the rules that it breaks."""
        roll(self.log)
        put(self.log, ("active", "x"))
        self.known.model.read_new_batches()
        self.known.read()
        self.known.model.new = []
        return [rule for rule, _ in self.known.removal_violations(self.run(now_ms, **bounds), now_ms)]

    def run(self, now_ms: int = NOW_MS, **bounds: Any) -> int:
        """Run the cleaner, and return the end of its run."""
        log = self.log
        bounds = {"last_stable_offset": log.last_stable_offset, "log_start_offset": 0, "now_ms": now_ms} | bounds
        job = log.begin_compaction(cleanable(log.segments, log.config, None, **bounds), now_ms, 1_000)
        done = log.finish_compaction(job, job.run())
        assert done is not None
        return done.end_offset


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_a_cleaner_run_removes_superseded_aborted_and_expired_records(stage: Stage) -> None:
    put(stage.log, ("a", "1"), ("b", "1"), ("a", "2"))
    txn(stage.log, 7, 0, ("a", "aborted"))
    end(stage.log, 7, commit=False)
    put(stage.log, ("b", None))
    assert not stage.clean()
    assert sorted(stage.known.keys) == [2, 5, 6]
    assert not stage.clean(NOW_MS + DAY + 1)
    assert sorted(stage.known.keys)[:2] == [2, 6]


def test_the_latest_of_a_key_stays(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    put(stage.log, ("a", "1"), ("b", "1"))
    monkeypatch.setattr(cleaner._Run, "_is_kept", lambda self, record, batch: record.key != b"a")
    assert stage.clean() == ["cleaned-latest"]


def test_a_tombstone_stays_for_a_while(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    put(stage.log, ("a", "1"), ("a", None))
    monkeypatch.setattr(cleaner._Run, "_is_kept", lambda self, record, batch: record.value is not None)
    assert stage.clean() == ["cleaned-tombstone"]


def test_records_without_a_key_are_removed_by_the_first_run(stage: Stage) -> None:
    """They were written before the topic was compacted."""
    follow(stage.log, batch_of(b"1", b"2"), batch_of(b"3", offset=2))
    stage.log.update_high_watermark(stage.log.log_end_offset)
    assert not stage.clean()
    assert [record.key for one in stage.log.batches() for record in one.records()] == [b"active"]


def test_records_superseded_by_an_open_transaction_must_stay(stage: Stage) -> None:
    put(stage.log, ("a", "1"))
    txn(stage.log, 7, 0, ("a", "2"))
    assert stage.clean(last_stable_offset=stage.log.log_end_offset) == ["cleaned-latest"]


def test_nothing_above_the_last_stable_offset_is_removed(stage: Stage) -> None:
    txn(stage.log, 7, 0, ("a", "1"))
    put(stage.log, ("a", "2"), ("a", "3"))
    assert stage.clean(last_stable_offset=stage.log.log_end_offset) == ["cleaned-above"] * 2


@pytest.mark.parametrize(("known", "rules"), [((0, 1, 2), ["cleaned-latest"]), ((0, 2), [])])
def test_a_run_is_judged_if_the_topic_was_compacted_all_the_time(
    stage: Stage, known: tuple[int, ...], rules: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records that arrived in between are not recorded, and may supersede the missing ones."""
    log, model = stage.log, stage.known.model
    leader: Any = SimpleNamespace(log=log, tp=TP, broker_id=1)
    scene, parts = (
        FakeScene(),
        SimpleNamespace(replicas=SimpleNamespace(partitions=SimpleNamespace(find_led=lambda tp: leader))),
    )
    scene.clusters["a"] = SimpleNamespace(broker=lambda broker_id: SimpleNamespace(parts=parts))
    scene.local_time = lambda *node: NOW_MS * MILLISECOND
    monitor = CleanerMonitor(scene, rules_of(scene))  # type: ignore[arg-type]
    for number in range(3):
        roll(log)
        put(log, ("a", str(number)))
        model.read_new_batches()
        if number in known:
            monitor.on_log_read("a", leader, model, from_start=not number)
        model.new = []
    monkeypatch.setattr(cleaner._Run, "_is_kept", lambda self, record, batch: False)
    monitor.on_compacted("a", 1, LogCompacted(TP, stage.run(), 0, 0))
    assert broken_rules(scene) == rules
