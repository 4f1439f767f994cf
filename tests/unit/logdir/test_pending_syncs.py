"""A folder that is flushed in jobs: data that is safe, and the order in which it becomes safe."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.log.store import HIGH_WATERMARK, RECOVERY_POINT
from kmirror.logdir.store import LogFolder

TP = TopicPartition("a.topic-with_all", 3)


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the flushed files, in their order."""
    names: list[str] = []
    fsync = os.fsync

    def record_calls(descriptor: int) -> None:
        names.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record_calls)
    return names


def test_a_flush_in_jobs_does_not_wait_for_names_and_new_files(tmp_path: Path, flushed: list[str]) -> None:
    folder = LogFolder(tmp_path / "logs", flushes_in_jobs=True)
    store = folder.open(TP)
    store.create(0)
    store.write_file("leader-epoch-checkpoint", b"")
    store.write_file("leader-epoch-checkpoint", b"0\n0\n")
    store.append(0, b"bytes")
    assert flushed == [] and store.read_file("leader-epoch-checkpoint") == b"0\n0\n"
    store.flush(0)
    log = "00000000000000000000.log"
    assert flushed == ["leader-epoch-checkpoint", str(TP), "logs", log], "files, then their names, then the records"
    flushed.clear()
    store.append(0, b"more")
    store.flush(0)
    assert flushed == [log]
    flushed.clear()
    store.write_file("leader-epoch-checkpoint", b"0\n1\n1 0\n")
    assert flushed == [] and store.read_file("leader-epoch-checkpoint") == b"0\n1\n1 0\n"
    assert (store.path / "leader-epoch-checkpoint").read_bytes() == b"0\n0\n", "what replaces content waits"
    folder.write_shared()
    assert flushed == ["leader-epoch-checkpoint.tmp", str(TP)]
    assert (store.path / "leader-epoch-checkpoint").read_bytes() == b"0\n1\n1 0\n"
    store.write_file("leader-epoch-checkpoint", b"0\n1\n1 1\n")
    store.delete_file("leader-epoch-checkpoint")
    folder.write_shared()
    assert store.read_file("leader-epoch-checkpoint") is None and not [*store.path.glob("leader-epoch*")]


def test_a_truncation_is_made_safe_by_a_job_offsets_first(tmp_path: Path, flushed: list[str]) -> None:
    folder = LogFolder(tmp_path / "logs", flushes_in_jobs=True)
    store = folder.open(TP)
    for base_offset in (0, 5):
        store.create(base_offset)
        store.append(base_offset, b"bytes")
    store.write_file(RECOVERY_POINT, b"9")
    store.flush(0)
    flushed.clear()
    store.write_file(RECOVERY_POINT, b"2")
    store.delete(5)
    store.truncate(0, 2)
    assert flushed == [] and store.has_unsafe_cut
    store.flush(0)
    log = "00000000000000000000.log"
    assert flushed[:2] == ["recovery-point-offset-checkpoint.tmp", "logs"] and {log, str(TP)} <= {*flushed[2:]}
    assert (
        not store.has_unsafe_cut
        and b"a.topic-with_all 3 2" in (folder.path / "recovery-point-offset-checkpoint").read_bytes()
    )


def test_an_append_to_a_truncated_log_waits_until_that_is_safe(tmp_path: Path, flushed: list[str]) -> None:
    """Otherwise a power cut could leave new bytes in front of old ones, below a recovery point that covers them."""
    folder = LogFolder(tmp_path / "logs", flushes_in_jobs=True)
    store, other = folder.open(TP), folder.open(TopicPartition("other", 0))
    for each in (store, other):
        each.create(0)
        each.append(0, b"bytes")
    folder.write_shared()
    flushed.clear()
    store.truncate(0, 2)
    other.append(0, b"more")
    assert flushed == [] and store.has_unsafe_cut and not other.has_unsafe_cut
    store.append(0, b"new")
    assert "00000000000000000000.log" in flushed and not store.has_unsafe_cut


def test_segments_replaced_by_compaction_are_deleted_once_their_successor_is_safe(
    tmp_path: Path, flushed: list[str]
) -> None:
    folder = LogFolder(tmp_path / "logs", flushes_in_jobs=True)
    store = folder.open(TP)
    for base_offset in (0, 5):
        store.create(base_offset)
        store.append(base_offset, b"bytes")
    folder.write_shared()
    store.stage(0, b"new")
    flushed.clear()
    store.replace([0, 5])
    assert flushed == [] and len([*store.path.glob("*.deleted")]) == 2
    assert bytes(store.read(0, 0, 3)) == b"new" and store.segments() == [0]
    folder.write_shared()
    assert flushed == [str(TP)] and not [*store.path.glob("*.deleted")]


def test_the_next_checkpoint_makes_all_partitions_safe(tmp_path: Path, flushed: list[str]) -> None:
    folder = LogFolder(tmp_path / "logs", flushes_in_jobs=True)
    for number in range(3):
        folder.open(TopicPartition("t", number)).write_file("partition.metadata", b"version: 0\n")
    with folder.batch():
        folder.open(TopicPartition("t", 0)).write_file(HIGH_WATERMARK, b"0")
    assert flushed == []
    folder.write_shared()
    assert flushed[:-2] == [name for number in range(3) for name in ("partition.metadata", f"t-{number}")] + ["logs"]
    assert flushed[-2:] == ["replication-offset-checkpoint.tmp", "logs"]


def test_a_failed_flush_is_repeated(tmp_path: Path, flushed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    store = LogFolder(tmp_path / "logs", flushes_in_jobs=True).open(TP)
    store.create(0)
    store.write_file("partition.metadata", b"version: 0\n")
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", Mock(side_effect=OSError(errno.EIO, "Input/output error")))
        with pytest.raises(OSError, match="Input/output error"):
            store.flush(0)
    store.flush(0)
    assert flushed == ["partition.metadata", str(TP), "logs", "00000000000000000000.log"]


def test_a_folder_set_aside_has_its_new_name_before_it_loses_files(tmp_path: Path, flushed: list[str]) -> None:
    folder = LogFolder(tmp_path / "logs", flushes_in_jobs=True)
    folder.open(TP).create(0)
    name = folder.set_aside(TP)
    assert flushed == []
    folder.purge(name)
    assert flushed == ["logs"] and folder.leftovers() == []
    folder.write_shared()
    assert flushed == ["logs"], "nothing is left to be flushed"
