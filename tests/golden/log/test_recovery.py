"""After a crash, and after an unclean election, the log is the same as on a Kafka broker."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.log.state_files import LOG_SUFFIX, decode_offsets, file_name
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT
from tests.golden.log.folders import SAMPLE, Folder
from tests.recorded import recorded_runs

CRASH, EPOCHS = SAMPLE / "crash-4.3", SAMPLE / "epochs-4.3"


def folder(path: Path, run: str) -> Folder:
    return Folder(run, path.name, path, None, None)


def segments(log: PartitionLog) -> dict[str, bytes]:
    return {file_name(base, LOG_SUFFIX): bytes(log.store.view(base)) for base in log.store.segments()}


@pytest.mark.parametrize("name", ["crashed-0", "crashed-1"])
def test_a_recovered_log_equals_the_brokers(name: str) -> None:
    before, after = folder(CRASH / "before" / name, "crash"), folder(CRASH / "data" / name, "crash")
    with pytest.raises(CorruptBatch) as caught:
        before.open()
    log = before.open(repair=True)
    assert log.repair is not None and log.repair.position == caught.value.position
    expected = {path.name: path.read_bytes() for path in after.path.glob("*.log")}
    found = segments(log)
    last = max(found)
    # The new leader of the recovered log has written to it since: a marker that aborts the open transaction.
    assert expected[last].startswith(found[last])
    assert {key: found[key] for key in found if key != last} == {key: expected[key] for key in expected if key != last}
    epochs = after.open().epochs
    log.append_as_follower(expected[last][len(found[last]) :], max_epoch=epochs.latest_epoch())
    log.close()
    assert segments(log) == expected
    for base in log.store.segments():
        for suffix in (".index", ".timeindex"):
            assert log.store.read_file(file_name(base, suffix)) == after.files()[file_name(base, suffix)]
    snapshot = file_name(log.log_end_offset, ".snapshot")
    assert log.store.read_file(snapshot) == after.files()[snapshot]


def complete_crash() -> list[Folder]:
    """Return the partitions after the kill and the damage, without the metadata log, which continued."""
    top = recorded_runs() / "crash-4.3"
    topics = json.loads((top / "cluster.json").read_text())["topics"]
    paths = [path for path in sorted((top / "before").iterdir()) if any(path.glob("*.log"))]
    configs = {path: topics.get(path.name.rpartition("-")[0], {}).get("configs", {}) for path in paths}
    return [
        Folder("crash-4.3/data", path.name, path, None, None, int(config.get("index.interval.bytes", 256)))
        for path, config in configs.items()
        if path.name != "__cluster_metadata-0"
    ]


@pytest.mark.parametrize("before", complete_crash(), ids=lambda folder: folder.name)
def test_recovery_leaves_each_file_like_the_broker(before: Folder) -> None:
    top = recorded_runs() / "crash-4.3"
    points = decode_offsets((top / "before" / "recovery-point-offset-checkpoint").read_bytes())
    log = before.open(repair=True, recovery_point=points[before.tp])
    assert (log.repair is not None) == before.name.startswith(("crashed-0", "crashed-1"))
    log.close()
    after = top / "data" / before.name
    expected = {path.name: path.read_bytes() for path in after.iterdir() if path.name[:20].isdigit()}
    found = {name: log.store.read_file(name) for name in log.store.files() if name[:20].isdigit()} | segments(log)
    expected = {name: data for name, data in expected.items() if not name.endswith(".deleted")}
    for name in {*found, *expected}:
        assert found.get(name) == expected.get(name), name


def test_a_replica_that_had_records_of_an_unclean_election_ends_up_like_the_leader() -> None:
    leader = folder(EPOCHS / "broker-3" / "ule-0", "epochs").open()
    log = folder(EPOCHS / "before-broker-2" / "ule-0", "epochs").open(repair=True)
    lost = log.log_end_offset
    epoch, end_offset = leader.end_offset_for_epoch(log.latest_epoch)
    assert end_offset < lost, "the replica has what the leader never had"
    log.truncate_to(min(end_offset, log.end_offset_for_epoch(epoch).end_offset))
    while log.log_end_offset < leader.log_end_offset:
        read = leader.read(log.log_end_offset, max_bytes=500, end_offset=leader.log_end_offset)
        log.append_as_follower(read.records, max_epoch=leader.latest_epoch)
    real = folder(EPOCHS / "broker-2" / "ule-0", "epochs")
    assert segments(log) == {path.name: path.read_bytes() for path in real.path.glob("*.log")}
    assert log.store.read_file(LEADER_EPOCH_CHECKPOINT) == real.files()[LEADER_EPOCH_CHECKPOINT]


def test_the_cleaner_leaves_the_same_segments_as_kafkas() -> None:
    """The broker was killed right after a run, so the segments from before it still exist."""
    path = CRASH / "before" / "crashed-compact-0"
    before = {int(file.name[:20]): file.read_bytes() for file in path.glob("*.log.deleted")}
    active = path / file_name(132, LOG_SUFFIX)
    store = MemoryStore.from_files(before | {132: active.read_bytes()}, {})
    config = LogConfig(compact=True, delete=False, segment_bytes=4000, index_interval_bytes=256)
    log = PartitionLog.open(TopicPartition("crashed-compact", 0), store, config, now_ms=0)
    log.update_high_watermark(log.log_end_offset)
    done = log.compact(0)
    assert done is not None and done.end_offset == 132, "as in the cleaner-offset-checkpoint of that broker"
    for base in before:
        assert bytes(store.view(base)) == (path / file_name(base, LOG_SUFFIX)).read_bytes()
        for suffix in (".index", ".timeindex"):
            assert store.read_file(file_name(base, suffix)) == (path / file_name(base, suffix)).read_bytes()
