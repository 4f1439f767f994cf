"""A whole log folder: its own files, and partitions that are set aside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.log.store import RECOVERY_POINT
from kmirror.logdir.store import LogFolder

TP = TopicPartition("t", 0)


def test_files_of_the_folder_itself_are_replaced_and_removed(tmp_path: Path) -> None:
    with LogFolder(tmp_path) as folder:
        assert folder.read_file("note") is None
        folder.write_file("note", b"one")
        folder.write_file("note", b"two")
        assert folder.read_file("note") == b"two" and (tmp_path / "note").read_bytes() == b"two"
        folder.delete_file("note")
        folder.delete_file("note")
        assert folder.read_file("note") is None and folder.partitions() == []


def test_a_partition_set_aside_makes_room_and_its_last_job_is_dropped(tmp_path: Path) -> None:
    """A job that started before must not read or write the files of the new topic, which have the same names."""
    with LogFolder(tmp_path) as folder:
        old = folder.open(TP)
        old.create(0)
        old.append(0, b"old")
        name = folder.set_aside(TP, is_stray=True)
        assert re.fullmatch(r"t-0\.[0-9a-f]{32}-stray", name)
        new = folder.open(TP)
        new.create(0)
        new.append(0, b"new")
        old.stage(0, b"compacted")
        assert (bytes(old.view(0)), bytes(new.view(0))) == (b"old", b"new")
        assert sorted(path.name for path in (tmp_path / "t-0").iterdir()) == ["00000000000000000000.log"]
        assert folder.partitions() == [TP]


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    for text in ("0\n1\n", "1\n0\n", "0\n1\na b\n", "x"):
        (tmp_path / "recovery-point-offset-checkpoint").write_text(text)
        with pytest.raises(CorruptBatch, match="checkpoint"):
            LogFolder(tmp_path)
    (tmp_path / "recovery-point-offset-checkpoint").write_text("")
    assert LogFolder(tmp_path).open(TP).read_file(RECOVERY_POINT) is None
