"""A broker started on a folder of kmirror serves the same contents as kmirror, and changes nothing.

It is started three times, on copies. Once as after a clean shutdown: then it trusts kmirror's indexes, snapshots and
checkpoints. Once with only segments, leader epochs, log starts and topic ids: then it reads every batch and rebuilds
everything else, like kmirror from the same files. Once it is written to, and kmirror reads the result.

tests/interop/conftest.py describes the source of Kafka's jars.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT
from kmirror.logdir.store import LogFolder
from kmirror.records import Compression
from tests.folder_checks import assert_verified
from tests.interop.log.cluster import CLEAN_SHUTDOWN_FILE
from tests.interop.log.judge import Judge
from tests.interop.log.restarts import (
    ISOLATIONS,
    Run,
    changed_files,
    different,
    files,
    live,
    offsets_by_us,
    producers_by_us,
    read_by_us,
)
from tests.interop.log.written import CASES, FAILED_OVER, RESET, Written

# Logs that lost their beginning or, to the cleaner, data that their indexes and snapshots still have; truncated ones;
# logs with producers of the sample's age, which may have expired; or with a producer reset.
CHANGED = {"compacted", "cut", "deleted", "deleted-to-the-end", "emptied", "mirrored", RESET}
DERIVED = (".index", ".timeindex", ".txnindex", ".snapshot")


@pytest.fixture(scope="module")
def trusted(judge: Judge, written: Written, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return live(judge, written, tmp_path_factory.mktemp("trusted") / "data")


@pytest.fixture(scope="module")
def recovered(judge: Judge, written: Written, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The life of a broker without indexes, snapshots, and the file of a clean shutdown."""
    folder = tmp_path_factory.mktemp("recovered")
    before = folder / "before"
    shutil.copytree(written.path, before)
    (before / CLEAN_SHUTDOWN_FILE).unlink()
    (before / "recovery-point-offset-checkpoint").unlink()
    for path in before.glob("*-*/*"):
        if path.suffix in DERIVED:
            path.unlink()
    return live(judge, written.at(before), folder / "after")


@pytest.fixture(scope="module")
def written_to(judge: Judge, written: Written, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The life of a broker that idempotent and transactional producers write to."""

    def produce(topic: str, end: str = "none", codec: str = "none", partition: int = 0) -> None:
        config = {"compression.type": codec, "batch.size": "400", "linger.ms": "5"}
        if end != "none":
            config["transactional.id"] = f"{topic}-{end}"
        values = [f"{topic} {end} {codec} {number}" for number in range(40)]
        offsets = judge.ask("produce", partitions=[(topic, partition)], end=end, config=config, values=values)
        assert len(offsets) == len(values)

    def use() -> None:
        for name in CASES:
            produce(name)
        for codec in Compression:
            produce("codecs", codec=codec.name.lower())
        for end in ("commit", "abort", "open", "commit"):
            produce("transactions", end)
            produce("failed-over-txn", end, codec="lz4", partition=1)
            produce("format-0", end)

    return live(judge, written, tmp_path_factory.mktemp("written-to") / "data", use=use)


@pytest.fixture(params=["trusted", "recovered"])
def run(request: pytest.FixtureRequest) -> Run:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Run)
    return found


def copy_of(written: Written, tmp_path: Path) -> LogFolder:
    shutil.copytree(written.path, tmp_path / "data")
    return LogFolder(tmp_path / "data")


def test_it_has_nothing_to_complain_of(run: Run) -> None:
    assert run.warnings == []


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_consumers_get_the_records_that_cat_prints(run: Run, isolation: str) -> None:
    records = run.records[isolation]
    for tp in run.before.partitions:
        assert records[str(tp)] == read_by_us(run.before.path, tp, isolation), tp
    assert sum(map(len, records.values())) > 3000


def test_list_offsets_returns_the_same_as_kmirror(run: Run, tmp_path: Path) -> None:
    folder = copy_of(run.before, tmp_path)
    for tp in run.before.partitions:
        told = run.offsets[str(tp)]
        assert offsets_by_us(run.open(tp, folder), told) == told, tp


def test_describe_producers_returns_the_same_as_kmirror(run: Run, tmp_path: Path) -> None:
    folder = copy_of(run.before, tmp_path)
    for tp in run.before.partitions:
        if run.is_clean or not tp.topic.startswith(FAILED_OVER):
            assert sorted(run.producers[str(tp)]) == producers_by_us(run.open(tp, folder)), tp


@pytest.mark.decision("D15")
def test_without_kip_1279_a_crash_restores_producers_that_a_reset_removed(
    trusted: Run, recovered: Run, tmp_path: Path
) -> None:
    """Consumers skip the unknown control record, and a broker trusts the empty snapshot, until it has none."""
    folder, tp = copy_of(recovered.before, tmp_path), TopicPartition(RESET, 0)
    assert producers_by_us(recovered.open(tp, folder)) == trusted.producers[str(tp)] == []
    assert sorted(row[0] for row in recovered.producers[str(tp)]) == [1, 2]


def test_a_broker_that_trusts_our_files_leaves_them_unchanged(trusted: Run, tmp_path: Path) -> None:
    folder = copy_of(trusted.before, tmp_path)
    for tp in trusted.before.partitions:
        trusted.open(tp, folder).close()
        kept = files(folder.path, tp)
        assert different(files(trusted.after.path, tp), kept) == [], tp
        # A log emptied by its log start is closed without a snapshot, and the next life begins with one.
        added = [f"{10:020}.snapshot"] if tp.topic == "deleted-to-the-end" else []
        assert changed_files(files(trusted.before.path, tp), kept) == added, tp


def test_files_rebuilt_by_kafka_equal_those_rebuilt_by_kmirror(recovered: Run, tmp_path: Path) -> None:
    folder = copy_of(recovered.before, tmp_path)
    for tp in recovered.before.partitions:
        log = recovered.open(tp, folder)
        assert log.repair is None, tp
        log.close()
        found = different(files(recovered.after.path, tp), files(folder.path, tp))
        if recovered.producers[str(tp)] and tp.topic.startswith(FAILED_OVER):
            found.remove(f"{log.log_end_offset:020}.snapshot")  # See above: the forgotten producers.
        assert found == [], tp


def test_rebuilt_files_equal_the_original_ones(recovered: Run, written: Written) -> None:
    """If the log still has all its former records, and was never truncated."""
    for name in sorted(set(CASES) - CHANGED):
        tp = TopicPartition(name, 0)
        found = different(files(recovered.after.path, tp), files(written.path, tp))
        assert set(found) <= {LEADER_EPOCH_CHECKPOINT}, name  # A new leader adds an epoch.


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_cat_prints_the_records_of_consumers_after_kafka_wrote_more(written_to: Run, isolation: str) -> None:
    assert written_to.warnings == []
    for tp in written_to.after.partitions:
        assert read_by_us(written_to.after.path, tp, isolation) == written_to.records[isolation][str(tp)], tp


def test_kmirror_verifies_and_opens_logs_continued_by_kafka(written_to: Run, tmp_path: Path) -> None:
    assert_verified(written_to.after.path, "--deep")
    folder = copy_of(written_to.after, tmp_path)
    for tp in written_to.after.partitions:
        told = written_to.offsets[str(tp)]
        log = written_to.open(tp, folder)
        assert offsets_by_us(log, told) == told, tp
        assert producers_by_us(log) == sorted(written_to.producers[str(tp)]), tp
        log.close()
        assert changed_files(files(written_to.after.path, tp), files(folder.path, tp)) == [], tp
