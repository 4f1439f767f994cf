"""A log folder becomes values, or is skipped because of its name, as in a broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.memory_store import MemoryStore
from kmirror.logdir import available_memory as memory
from kmirror.logdir import load as log_dirs
from kmirror.logdir.load import LogDirs, read_log_dirs
from tests.builders import batch
from tests.unit.logdir.folders import checkpoint, fingerprint, partition, sample

TOPIC_ID = "rQx8Ll2tQ4u0mJmS9pX1AQ"
METADATA = f"version: 0\ntopic_id: {TOPIC_ID}".encode()


def only(found: LogDirs) -> log_dirs.PartitionFiles:
    (files,) = found.partitions.values()
    return files


def test_a_partition_is_read_byte_for_byte(tmp_path: Path) -> None:
    segments = {5: batch(3, offset=5) + batch(2, offset=8, epoch=1), 10: batch(offset=10, epoch=4)}
    epochs = checkpoint(["0 5", "1 8", "4 10"])
    partition(tmp_path, "orders-3", segments, {"leader-epoch-checkpoint": epochs, "partition.metadata": METADATA})
    (tmp_path / "meta.properties").write_text("#\n#Sat Nov 21\nversion=1\ncluster.id=abc-_123\n")
    (tmp_path / "replication-offset-checkpoint").write_bytes(checkpoint(["orders 3 9"]))
    (tmp_path / "log-start-offset-checkpoint").write_bytes(checkpoint(["orders 3 6"]))
    found = read_log_dirs(tmp_path)
    assert found.cluster_id == "abc-_123"
    assert found.topics == {"orders": [3]}
    assert found.topic_id("orders") == Uuid.from_str(TOPIC_ID)
    assert found.skipped == []
    files = found.partitions[TopicPartition("orders", 3)]
    assert files.segments == segments
    assert (files.log_start_offset, files.high_watermark, files.log_end_offset) == (6, 9, 11)
    assert files.batches == 3
    assert files.size_in_bytes == sum(map(len, segments.values()))
    assert files.files == {
        "leader-epoch-checkpoint": epochs,
        "partition.metadata": METADATA,
        "high-watermark": b"9",
        "log-start-offset": b"6",
    }


def test_a_store_can_be_made_from_the_loaded_files(tmp_path: Path) -> None:
    files = only(read_log_dirs(partition(tmp_path, "t-0", {0: batch(4)})))
    store = MemoryStore.from_files(files.segments, files.files)
    assert store.segments() == [0]
    assert bytes(store.view(0)) == batch(4)


def test_without_checkpoints_the_log_speaks_for_itself(tmp_path: Path) -> None:
    partition(tmp_path, "t-0", {7: batch(2, offset=7)})
    found = read_log_dirs(tmp_path)
    files = only(found)
    assert found.cluster_id is None
    assert files.topic_id is None
    assert (files.log_start_offset, files.high_watermark, files.log_end_offset) == (7, None, 9)


@pytest.mark.parametrize(("checkpointed", "clamped"), [(0, 4), (5, 5), (99, 6)])
def test_the_high_watermark_lies_between_log_start_and_log_end(tmp_path: Path, checkpointed: int, clamped: int) -> None:
    partition(tmp_path, "t-0", {4: batch(2, offset=4)})
    (tmp_path / "replication-offset-checkpoint").write_bytes(checkpoint([f"t 0 {checkpointed}"]))
    assert only(read_log_dirs(tmp_path)).high_watermark == clamped


def test_files_that_were_created_and_never_written_are_empty(tmp_path: Path) -> None:
    partition(tmp_path, "t-0", {0: b""}, {"leader-epoch-checkpoint": b""})
    (tmp_path / "replication-offset-checkpoint").write_bytes(b"")
    files = only(read_log_dirs(tmp_path))
    assert (files.segments, files.log_end_offset) == ({0: b""}, 0)


def test_a_partition_without_a_segment_begins_at_its_log_start(tmp_path: Path) -> None:
    partition(tmp_path, "t-0", {}, {"partition.metadata": METADATA})
    (tmp_path / "log-start-offset-checkpoint").write_bytes(checkpoint(["t 0 40"]))
    files = only(read_log_dirs(tmp_path))
    assert files.segments == {40: b""}
    assert (files.log_start_offset, files.log_end_offset) == (40, 40)


def test_gaps_of_compaction_are_kept(tmp_path: Path) -> None:
    segments = {0: batch(offset=3) + batch(2, offset=9), 20: b"", 30: batch(offset=31)}
    partition(tmp_path, "t-0", segments)
    files = only(read_log_dirs(tmp_path))
    assert files.segments == segments
    assert (files.log_start_offset, files.log_end_offset) == (0, 32)


def test_the_partition_number_follows_the_last_dash(tmp_path: Path) -> None:
    names = ["a.b_c-d-10", "x--0", "only-delete-2", "7-7", "__mine-0", "t-2147483647"]
    for name in names:
        partition(tmp_path, name, {0: b""})
    found = read_log_dirs(tmp_path)
    assert [str(tp) for tp in found.partitions] == sorted(names)
    assert TopicPartition("a.b_c-d", 10) in found.partitions
    assert found.skipped == []


def test_partitions_may_be_missing_and_are_sorted_by_number(tmp_path: Path) -> None:
    for number in (10, 2, 0):
        partition(tmp_path, f"t-{number}", {0: b""})
    assert read_log_dirs(tmp_path).topics == {"t": [0, 2, 10]}


def test_folders_that_are_no_users_partition_are_left_out_by_name(tmp_path: Path) -> None:
    suffix = "60d9fcf42c904bdb8a69f8cc8a102420"
    internal = [
        "__consumer_offsets",
        "__transaction_state",
        "__share_group_state",
        "__mirror_state",
        "__cluster_metadata",
        "__remote_log_metadata",
    ]
    aside = [f"t-1.{suffix}-{kind}" for kind in ("delete", "future", "stray")]
    other = ["lost+found", "t-01", "t-2147483648", "remote-log-index-cache", "..-0"]
    for name in ["t-0", *aside, *other, *(f"{topic}-{number}" for topic in internal for number in (0, 1))]:
        partition(tmp_path, name, {0: b"rubbish that nobody may look at"} if name != "t-0" else {0: b""})
    (tmp_path / "empty-0").mkdir()
    found = read_log_dirs(tmp_path)
    assert list(found.partitions) == [TopicPartition("t", 0)]
    assert sorted(name for name, _ in found.skipped) == sorted([*internal, *aside, *other, "empty-0"])
    reasons = dict(found.skipped)
    assert reasons["__mirror_state"] == "internal topic"
    assert "deleting" in reasons[aside[0]]


def test_files_that_a_broker_would_delete_or_ignore_are_not_read(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(2)})
    for name in (
        "00000000000000000000.log.deleted",
        "00000000000000000000.log.cleaned",
        "00000000000000000000.index",
        "00000000000000000002.snapshot",
        "00000000000000000000-0000000001.checkpoint",
        "notes.txt",
    ):
        (place / name).write_bytes(b"not for us")
    (place / "00000000000000000005.log").mkdir()  # A broker opens only files.
    assert only(read_log_dirs(tmp_path)).segments == {0: batch(2)}


def test_an_interrupted_compaction_is_brought_to_its_end(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(5), 5: batch(5, offset=5), 10: batch(offset=10), 11: batch(offset=11)})
    (place / "00000000000000000000.log.swap").write_bytes(batch(offset=1) + batch(offset=9))
    assert only(read_log_dirs(tmp_path)).segments == {
        0: batch(offset=1) + batch(offset=9),
        10: batch(offset=10),
        11: batch(offset=11),
    }


def test_an_interrupted_split_is_undone(tmp_path: Path) -> None:
    place = partition(tmp_path, "t-0", {0: batch(5), 5: batch(5, offset=5)})
    (place / "00000000000000000005.log.swap").write_bytes(batch(offset=5))
    (place / "00000000000000000005.index.cleaned").write_bytes(b"")
    assert only(read_log_dirs(tmp_path)).segments == {0: batch(5), 5: batch(5, offset=5)}


def test_one_partitions_folder_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = sample(tmp_path)
    found = read_log_dirs(folder / "retention-1")
    files = found.partitions[TopicPartition("retention", 1)]
    assert len(found.partitions) == 1
    assert (files.log_start_offset, files.log_end_offset) == (77, 100)
    assert found.cluster_id == read_log_dirs(folder).cluster_id
    monkeypatch.chdir(folder / "codecs-0")
    assert list(read_log_dirs(".").partitions) == [TopicPartition("codecs", 0)]


def test_topics_are_picked_by_name(tmp_path: Path) -> None:
    folder = sample(tmp_path, "txn-0", "txn-1", "idem-0")
    assert read_log_dirs(folder, topics=["txn"]).topics == {"txn": [0, 1]}
    with pytest.raises(UsageError, match=r"no topic 'nope' to mirror: it has idem, txn"):
        read_log_dirs(folder, topics=["txn", "nope"])
    with pytest.raises(UsageError, match="topics takes a list of names"):
        read_log_dirs(folder, topics="txn")
    with pytest.raises(UsageError, match="list of topics is empty"):
        read_log_dirs(folder, topics=[])


def test_a_fault_in_a_topic_that_was_not_picked_does_no_harm(tmp_path: Path) -> None:
    folder = sample(tmp_path, "txn-0", "idem-0")
    (folder / "idem-0" / f"{0:020d}.log").write_bytes(b"rubbish")
    assert read_log_dirs(folder, topics=["txn"]).topics == {"txn": [0]}


def test_an_internal_topic_cannot_be_picked(tmp_path: Path) -> None:
    folder = sample(tmp_path, "txn-0")
    partition(folder, "__consumer_offsets-0", {0: b""})
    with pytest.raises(UsageError, match=r"'__consumer_offsets' to mirror: internal topic"):
        read_log_dirs(folder, topics=["__consumer_offsets"])


def test_progress_ends_at_the_total_and_never_falls(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    found = read_log_dirs(sample(tmp_path), progress=lambda done, total: calls.append((done, total)))
    total = sum(files.size_in_bytes for files in found.partitions.values())
    assert calls[-1] == (total, total)
    assert calls == sorted(calls)
    assert {of for _, of in calls} == {total}


def test_too_much_data_for_the_memory_is_refused_before_any_segment_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = partition(tmp_path, "t-0", {})
    with (place / f"{0:020d}.log").open("wb") as stream:
        stream.truncate(1 << 40)  # A hole, not a terabyte.
    with pytest.raises(UsageError, match=r"1\.0 TiB of segments in 1 partition .* 7\.0 TiB .* \(7 copies\)"):
        read_log_dirs(tmp_path)
    with pytest.raises(UsageError, match=r"limit is 6\.9 KiB"):
        read_log_dirs(sample(tmp_path, "idem-0"), memory_limit=7 * 1010)
    monkeypatch.setattr(memory, "_available", lambda: None)
    monkeypatch.setattr(memory, "_container_limit", lambda path: 1000)
    with pytest.raises(UsageError, match="limit is 800 bytes"):
        read_log_dirs(tmp_path / "sample")


def test_a_machine_with_unknown_memory_permits_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_available", lambda: None)
    monkeypatch.setattr(memory, "_container_limit", lambda path: None)
    assert memory.allowed_bytes() is None
    assert read_log_dirs(sample(tmp_path, "idem-0")).topics == {"idem": [0]}


def test_this_machine_allows_something() -> None:
    allowed = memory.allowed_bytes()
    assert allowed is not None
    assert allowed > 0


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1.0 KiB"),
        (1536 << 20, "1.5 GiB"),
        (1 << 60, "1048576.0 TiB"),
    ],
)
def test_sizes_are_printed_with_units(count: int, words: str) -> None:
    assert memory.size_in_words(count) == words


def test_the_folder_is_left_untouched(tmp_path: Path) -> None:
    folder = sample(tmp_path)
    before = fingerprint(folder)
    assert len(before) > 100
    read_log_dirs(folder)
    read_log_dirs(folder / "txn-0")
    assert fingerprint(folder) == before
