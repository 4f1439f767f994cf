"""Logs of a broker, compacted and partly deleted; each of their segments is removed in turn.

tests/interop/conftest.py describes the source of Kafka's jars; with KMIRROR_TABLES=1 the table is printed.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.logdir.checkpoints import CLEANER_OFFSETS, read_offsets
from kmirror.logdir.store import LogFolder
from tests.interop.log.cluster import Topic, finish
from tests.interop.log.judge import Judge
from tests.segment_removal import Removal, is_reported, remove_each, table
from tests.segment_removal import judge as verdict

SECONDS_MAX = 60  # Time for the cleaner and retention to run.
SMALL = {"internal.segment.bytes": "1500"}
TOPICS = {
    "plain": SMALL,
    "idempotent": SMALL,
    "transactional": SMALL,
    "compacted": {**SMALL, "cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.0"},
    "retained": {**SMALL, "retention.bytes": "5000"},
}
OFTEN = {
    "log.initial.task.delay.ms": "100",
    "log.retention.check.interval.ms": "200",
    "log.cleaner.backoff.ms": "100",
}


@pytest.fixture(scope="module")
def kmirror_folder(judge: Judge, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a broker that was written to, cleaned, restarted, written to again, and shut down cleanly."""
    top = tmp_path_factory.mktemp("left") / "data"
    with LogFolder(top) as folder:
        topics = {
            name: Topic(Uuid.from_ints(7, n), configs, {0: 0}) for n, (name, configs) in enumerate(TOPICS.items())
        }
        finish(folder, topics, now_ms=time.time_ns() // 1_000_000)
    partitions = [TopicPartition(name, 0) for name in TOPICS]
    for _ in range(2):
        judge.start(top, partitions, **OFTEN)
        _produce(judge)
        _await(judge, top)
        _produce(judge)
        judge.stop()
    return top


def _produce(judge: Judge) -> None:
    for name in TOPICS:
        ends = ("commit", "abort", "commit") if name == "transactional" else ("none",)
        for end in ends:
            config = {"batch.size": "300", "enable.idempotence": str(name != "plain").lower()}
            if end != "none":
                config["transactional.id"] = name
            values = [f"{number % 9 if name == 'compacted' else number} {'v' * 20}" for number in range(100)]
            judge.ask("produce", partitions=[(name, 0)], end=end, config=config, values=values)


def _await(judge: Judge, top: Path) -> None:
    """Query the broker until it has compacted one topic and deleted from another."""
    deadline = time.monotonic() + SECONDS_MAX
    while time.monotonic() < deadline:
        judge.about("offsets", timestamps=[])
        is_cleaned = read_offsets(top / CLEANER_OFFSETS).get(TopicPartition("compacted", 0), 0) > 0
        if is_cleaned and min((top / "retained-0").glob("*.log")).stem.strip("0"):
            return
    pytest.fail(f"nothing was cleaned or deleted within {SECONDS_MAX} s")


@pytest.fixture(scope="module")
def removals(kmirror_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Removal]:
    return list(remove_each(kmirror_folder, tmp_path_factory.mktemp("work") / "copy"))


def test_the_brokers_folder_has_no_faults(kmirror_folder: Path) -> None:
    faults, gaps = verdict(kmirror_folder)
    assert faults == set()
    assert {gap.folder.name for gap in gaps} <= {"compacted-0", "__transaction_state-0"}


def test_no_segment_above_the_first_is_lost_in_silence(
    removals: list[Removal], capsys: pytest.CaptureFixture[str]
) -> None:
    if os.environ.get("KMIRROR_TABLES") == "1":
        with capsys.disabled():
            print(f"\n{table(removals)}")
    assert {f"{name}-0" for name in TOPICS} <= {one.partition for one in removals if one.place == "middle"}
    assert [one for one in removals if not is_reported(one)] == []


def test_a_missing_segment_with_indexes_is_always_detected(removals: list[Removal]) -> None:
    assert {one.verified for one in removals if not one.with_files} == {"found"}
