"""The file store behaves like the memory store, and leaves Kafka's files on the disk."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import Mock

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.store import HIGH_WATERMARK, LOG_START_OFFSET, PartitionStore
from kmirror.logdir.checkpoints import read_folder_facts
from kmirror.logdir.store import FileStore, LogFolder
from tests.builders import NOW_MS, batch, idempotent, marker
from tests.folder_checks import assert_verified
from tests.unit.log.partitions import content, follow

TP = TopicPartition("a.topic-with_all", 3)


@pytest.fixture(params=["memory", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> PartitionStore:
    return MemoryStore() if request.param == "memory" else LogFolder(tmp_path).open(TP)


@pytest.fixture
def files(tmp_path: Path) -> FileStore:
    return LogFolder(tmp_path).open(TP)


def test_bytes_are_appended_in_order(store: PartitionStore) -> None:
    store.create(5)
    for data in (b"ab", memoryview(b"cd"), bytearray(b"e"), b"f"):
        store.append(5, data)
    assert bytes(store.view(5)) == b"abcdef"
    assert bytes(store.view(5, 1, 3)) == bytes(store.read(5, 1, 3)) == b"bc"
    assert store.size(5) == 6
    store.flush(5)


def test_a_partial_write_of_the_system_is_continued(files: FileStore, monkeypatch: pytest.MonkeyPatch) -> None:
    files.create(0)
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: write(file, bytes(data)[:3], at))
    files.append(0, b"abcdefgh")
    files.append(0, memoryview(b"ijkl"))
    assert bytes(files.view(0)) == b"abcdefghijkl"
    assert files.size(0) == 12


def test_a_write_that_fails_halfway_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = fill(folder := LogFolder(tmp_path), TP)
    before, write = content(log), os.pwrite

    def write_on_a_full_disk(file: int, data: bytes, at: int) -> int:
        if len(data) < 50:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, bytes(data)[:-20], at)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(os, "pwrite", write_on_a_full_disk)
        follow(log, batch(3, offset=log.log_end_offset))
    log.close()
    folder.close()
    log = PartitionLog.open(TP, LogFolder(tmp_path).open(TP), LogConfig(), now_ms=NOW_MS)
    assert content(log) == before
    follow(log, batch(3, offset=log.log_end_offset))


def test_a_complete_replacement_takes_the_place_of_all_that_it_covers(tmp_path: Path) -> None:
    store = LogFolder(tmp_path).open(TP)
    for base_offset in (0, 1, 2):
        store.create(base_offset)
        store.append(base_offset, batch(1, offset=base_offset))
    (store.path / f"{0:020d}.log.swap").write_bytes(batch(1) + batch(1, offset=1))
    (store.path / f"{2:020d}.log.cleaned").write_bytes(b"half")
    again = LogFolder(tmp_path).open(TP)
    assert again.segments() == [0, 2]
    assert bytes(again.view(0)) == batch(1) + batch(1, offset=1)
    assert sorted(path.suffix for path in store.path.iterdir()) == [".log", ".log"]


class Compaction(NamedTuple):
    """A closed log whose first two segments will be replaced by one."""

    place: Path
    before: dict[str, bytes]
    old: list[str]  # Files of these two.
    new: dict[str, bytes]

    @property
    def now(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.place.iterdir()}


@pytest.fixture
def compaction(tmp_path: Path) -> Compaction:
    store = (folder := LogFolder(tmp_path / "before")).open(TP)
    fill(folder, TP).close()
    first, second = (f"{base:020d}" for base in store.segments()[:2])
    cleaned = (folder := LogFolder(tmp_path / "cleaned")).open(TP)
    cleaned.create(0)
    for name in (first, second):
        cleaned.append(0, (store.path / f"{name}.log").read_bytes())
    PartitionLog.open(TP, cleaned, LogConfig(index_interval_bytes=0), now_ms=NOW_MS).close()
    new = {path.name: path.read_bytes() for path in cleaned.path.iterdir() if path.name.startswith(first)}
    assert sorted(new) == [f"{first}.{kind}" for kind in ("index", "log", "timeindex", "txnindex")]
    before = {path.name: path.read_bytes() for path in store.path.iterdir()}
    old = [name for name in before if name.startswith((first, second))]
    assert f"{second}.snapshot" in old
    assert before[f"{first}.index"] != new[f"{first}.index"]
    return Compaction(store.path, before, old, new)


@pytest.mark.parametrize("deleted", [0, 1, 3, 4, 8])
def test_a_swap_is_finished_with_all_files_of_its_segment(compaction: Compaction, deleted: int) -> None:
    """An old segment's index, which Kafka deletes file by file, must not be used for the new one."""
    place, before, old, new = compaction
    for name, data in new.items():
        (place / f"{name}.swap").write_bytes(data)
    for name in sorted(old)[:deleted]:
        (place / name).rename(place / f"{name}.deleted")
    LogFolder(place.parent).open(TP)
    assert compaction.now == {name: data for name, data in before.items() if name not in old} | new


@pytest.mark.parametrize("renamed", [1, 2, 3])
def test_files_that_a_swap_has_not_renamed_yet_are_renamed(compaction: Compaction, renamed: int) -> None:
    place, _, old, new = compaction
    for name in old:
        (place / name).unlink()
    for number, kind in enumerate(("log", "index", "timeindex", "txnindex")):
        name = f"{0:020d}.{kind}"
        (place / (name if number < renamed else f"{name}.swap")).write_bytes(new[name])
    kept = compaction.now.keys() - {f"{name}.swap" for name in new}
    LogFolder(place.parent).open(TP)
    assert compaction.now.keys() == kept | new.keys()
    assert compaction.now.items() >= new.items()


@pytest.mark.parametrize("renamed", [1, 2, 3])
def test_a_swap_does_not_count_before_all_its_files_have_the_name(compaction: Compaction, renamed: int) -> None:
    """Kafka renames the log first; while another file is `.cleaned`, the old segments count."""
    for number, kind in enumerate(("log", "index", "timeindex", "txnindex")):
        name = f"{0:020d}.{kind}"
        suffix = ".swap" if number < renamed else ".cleaned"
        (compaction.place / (name + suffix)).write_bytes(compaction.new[name])
    LogFolder(compaction.place.parent).open(TP)
    assert compaction.now == compaction.before


def test_a_replaced_segment_is_deleted_although_no_file_takes_its_name(compaction: Compaction) -> None:
    place, before, old, new = compaction
    log = f"{0:020d}.log"
    (place / f"{0:020d}.snapshot").write_bytes(b"of a log that is no more")
    (place / f"{log}.swap").write_bytes(new[log])
    LogFolder(place.parent).open(TP)
    assert compaction.now == {name: data for name, data in before.items() if name not in old} | {log: new[log]}


KINDS = ("index", "log", "timeindex", "txnindex")


def segment_files(suffixes: dict[int, str], *, counts: dict[int, int]) -> dict[str, bytes]:
    """Return all files of the segments at these base offsets, under names with these suffixes."""
    return {
        f"{base:020d}.{kind}{suffix}": batch(counts[base], offset=base) if kind == "log" else b"%d" % counts[base]
        for base, suffix in suffixes.items()
        for kind in KINDS
    }


OLD, LATER = segment_files({0: ""}, counts={0: 4}), segment_files({4: ""}, counts={4: 1})
HALVES = segment_files({0: "", 2: ""}, counts={0: 2, 2: 2})
SWAPS = {
    "a split that counts": (OLD | segment_files({0: ".swap", 2: ".swap"}, counts={0: 2, 2: 2}), HALVES),
    "the old one is gone": (segment_files({0: ".swap", 2: ".swap"}, counts={0: 2, 2: 2}), HALVES),
    "a split that does not count": (OLD | segment_files({0: ".cleaned", 2: ".swap"}, counts={0: 2, 2: 2}), OLD),
    "a compaction": (HALVES | segment_files({0: ".swap"}, counts={0: 4}), OLD),
    "one that does not count": (HALVES | segment_files({0: ".cleaned"}, counts={0: 4}), HALVES),
    "what it replaces is renamed": (
        segment_files({0: ".deleted", 2: ".deleted"}, counts={0: 2, 2: 2}) | segment_files({0: ".swap"}, counts={0: 4}),
        OLD,
    ),
}


@pytest.mark.parametrize(("found", "left"), SWAPS.values(), ids=SWAPS)
def test_a_power_cut_while_a_swap_is_completed_does_not_change_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: dict[str, bytes], left: dict[str, bytes]
) -> None:
    """It comes after the first few deletes and renames, and twice more during the rest."""

    class PowerCut(Exception):
        pass

    budget: list[None] = []

    def counted(change: Callable[..., Any]) -> Callable[..., Any]:
        def act(*arguments: Any) -> Any:
            if not budget:
                raise PowerCut
            budget.pop()
            return change(*arguments)

        return act

    monkeypatch.setattr(Path, "unlink", counted(Path.unlink))
    monkeypatch.setattr(Path, "rename", counted(Path.rename))
    for first in range(40):
        place = tmp_path / f"{first}" / str(TP)
        place.mkdir(parents=True)
        for name, data in (found | LATER).items():
            (place / name).write_bytes(data)
        for count in (first, 1, 2, 100):
            budget[:] = [None] * count
            try:
                LogFolder(place.parent).open(TP)
            except PowerCut:
                continue
        assert {path.name: path.read_bytes() for path in place.iterdir()} == left | LATER, first


def test_only_files_of_a_segment_are_deleted(files: FileStore) -> None:
    """A deleted snapshot of a metadata log belongs to Kafka."""
    kept = ["00000000000000000012-0000000001.checkpoint.deleted", "notes.deleted", "x.swap"]
    for name in (*kept, f"{3:020d}.log.deleted", f"{3:020d}.snapshot.deleted", f"{3:020d}.txnindex.cleaned"):
        (files.path / name).touch()
    LogFolder(files.path.parent).open(TP)
    assert sorted(path.name for path in files.path.iterdir()) == sorted(kept)


def test_digits_of_other_scripts_name_no_offset(files: FileStore) -> None:
    for digit in "\u00b2", "\u0662":
        (files.path / f"{digit:0>20}.log").touch()
        (files.path / f"{digit:0>20}.snapshot").touch()
    PartitionLog.open(TP, (folder := LogFolder(files.path.parent)).open(TP), LogConfig(), now_ms=NOW_MS)
    assert folder.open(TP).segments() == [0]


def put_in_place(store: FileStore) -> None:
    store.stage(0, b"new")
    store.replace([0, 1])


EFFECTS: list[tuple[str, Callable[[FileStore], None], str]] = [
    ("create", lambda store: store.create(9), "folder"),
    ("append", lambda store: store.append(1, b"!"), ""),
    ("flush", lambda store: store.flush(1), "file"),
    ("truncate", lambda store: store.truncate(1, 2), "ftruncate file"),
    ("delete", lambda store: store.delete(1), "unlink folder"),
    ("set aside", lambda store: store.set_aside(1), "rename folder"),
    ("stage", lambda store: store.stage(0, b"new"), "file"),
    ("replace", put_in_place, "file rename folder unlink unlink rename folder"),
    ("write", lambda store: store.write_file("leader-epoch-checkpoint", b"0\n0\n"), "file rename folder"),
    ("write shared", lambda store: store.write_file(HIGH_WATERMARK, b"7"), "file rename folder"),
]


@pytest.mark.parametrize(("act", "expected"), [row[1:] for row in EFFECTS], ids=[row[0] for row in EFFECTS])
def test_data_is_flushed_in_the_required_order(
    files: FileStore, monkeypatch: pytest.MonkeyPatch, act: Callable[[FileStore], None], expected: str
) -> None:
    for base_offset in (0, 1):
        files.create(base_offset)
        files.append(base_offset, b"bytes")
    steps: list[str] = []

    def record_calls(owner: object, name: str, told: Callable[[Any], str]) -> None:
        done = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *words: (steps.append(told(words[0])), done(*words))[1])

    record_calls(os, "fsync", lambda file: "folder" if stat.S_ISDIR(os.fstat(file).st_mode) else "file")
    for owner, name in ((os, "ftruncate"), (Path, "rename"), (Path, "unlink")):
        record_calls(owner, name, lambda _, name=name: name)  # type: ignore[misc]
    act(files)
    assert " ".join(steps) == expected


def test_a_doomed_folder_has_its_name_before_it_loses_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(folder := LogFolder(tmp_path), TP).close()
    steps: list[str] = []

    def record_calls(owner: object, name: str) -> None:
        act = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *words: (steps.append(name), act(*words))[1])

    for owner, name in ((Path, "rename"), (Path, "unlink"), (os, "fsync")):
        record_calls(owner, name)
    folder.delete(TP)
    assert "-".join(steps[: steps.index("unlink") + 1]).endswith("rename-fsync-unlink")


def test_segments_are_created_and_deleted(store: PartitionStore) -> None:
    for base_offset in (7, 0, 30):
        store.create(base_offset)
        store.append(base_offset, b"%d" % base_offset)
    store.append(0, b"!")
    store.delete(7)
    assert store.segments() == [0, 30]
    assert [bytes(store.view(base)) for base in store.segments()] == [b"0!", b"30"]
    store.create(7)
    assert store.size(7) == 0


@pytest.mark.parametrize("size", [100, 1 << 18], ids=["small", "mapped"])
def test_read_views_survive_truncations_growth_and_deletion(store: PartitionStore, size: int) -> None:
    store.create(0)
    store.append(0, b"x" * size)
    read, view = store.read(0, 0, size), store.view(0)
    store.truncate(0, 10)
    store.append(0, b"y" * size)
    assert bytes(read) == b"x" * size
    assert bytes(store.view(0)) == b"x" * 10 + b"y" * size
    assert len(view) == size and view[0] == ord("x")
    store.delete(0)
    assert bytes(read) == b"x" * size


def test_a_view_of_truncated_pages_can_still_be_read(files: FileStore) -> None:
    size = 1 << 20
    files.create(0)
    files.append(0, b"x" * size)
    old = files.view(0)
    files.append(0, b"z")
    newer = files.view(0)  # A longer map; the one under `old` still exists.
    files.truncate(0, 0)
    assert bytes(old) == b"x" * size and bytes(newer) == b"x" * size + b"z"
    assert not list(files.path.glob("*.tmp"))
    files.append(0, b"abc")
    assert bytes(files.view(0)) == b"abc"


def test_many_segments_are_read_with_few_maps_and_one_open_file(files: FileStore) -> None:
    size = 1 << 17
    for base in range(20):
        files.create(base)
        files.append(base, bytes([base]) * size)
    views = [files.view(base) for base in range(20)]
    assert [view[size - 1] for view in views] == list(range(20))
    del views
    files.close()
    assert files.view(3)[0] == 3


def test_a_folder_that_is_left_has_no_file_open(tmp_path: Path) -> None:
    def open_files() -> list[str]:
        paths = (path.readlink() for path in Path("/proc/self/fd").iterdir() if path.is_symlink())
        return [path.name for path in paths if tmp_path in path.parents]

    with LogFolder(str(tmp_path)) as folder:
        log = fill(folder, TP)
        content(log)
        log.close()
        assert open_files()
    assert not open_files()


def test_segments_without_timestamps_are_as_old_as_their_files_also_after_a_restart(tmp_path: Path) -> None:
    config = LogConfig(retention_ms=1000, segment_ms=1)
    folder = LogFolder(tmp_path)
    log = PartitionLog.open(TP, folder.open(TP), config, now_ms=NOW_MS)
    for offset in range(3):
        log.append_as_follower(batch(offset=offset, timestamp=-1), max_epoch=0, now_ms=NOW_MS + 10 * offset)
    log.update_high_watermark(3)
    log.close()
    folder.close()
    for base, age_ms in ((0, 5000), (1, 500), (2, 500)):
        os.utime(tmp_path / str(TP) / f"{base:020d}.log", ns=(0, (NOW_MS - age_ms) * 1_000_000))
    log = PartitionLog.open(TP, LogFolder(tmp_path).open(TP), config, now_ms=NOW_MS, recovery_point=CLEAN_SHUTDOWN)
    assert log.delete_old_segments(NOW_MS) == 1
    assert log.segment_base_offsets == [1, 2]


def test_a_replacement_is_as_old_as_the_last_segment_it_replaces(files: FileStore) -> None:
    for base in (0, 5, 9):
        files.create(base)
        files.append(base, b"x" * 100)
        os.utime(files.path / f"{base:020d}.log", ns=(0, (NOW_MS - base) * 1_000_000))
    files.stage(0, b"y")
    files.replace([0, 5])
    assert [files.modified_ms(base) for base in files.segments()] == [NOW_MS - 5, NOW_MS - 9]


def test_named_files(store: PartitionStore) -> None:
    assert store.read_file("a") is None
    for name, data in (("b", b"1"), ("a", b"2"), ("a", b"3"), (HIGH_WATERMARK, b"12")):
        store.write_file(name, data)
    assert list(store.files()) == ["a", "b", HIGH_WATERMARK]
    assert (store.read_file("a"), store.read_file(HIGH_WATERMARK)) == (b"3", b"12")
    for name in ("a", "a", HIGH_WATERMARK, HIGH_WATERMARK):
        store.delete_file(name)
    assert list(store.files()) == ["b"]
    assert store.read_file(HIGH_WATERMARK) is None


def fill(folder: LogFolder, tp: TopicPartition, count: int = 12) -> PartitionLog:
    log = PartitionLog.open(tp, folder.open(tp), LogConfig(segment_bytes=400), now_ms=NOW_MS)
    for number in range(count):
        follow(log, idempotent(number, txn=True, offset=2 * number, epoch=number // 4))
        follow(log, marker(commit=number % 3 > 0, offset=2 * number + 1, epoch=number // 4))
    log.update_high_watermark(2 * count)
    return log


def test_a_closed_log_is_opened_from_its_files_alone(tmp_path: Path) -> None:
    log = fill(LogFolder(tmp_path), TP)
    log.advance_log_start(13)
    log.close()
    for point in (0, CLEAN_SHUTDOWN):
        folder = LogFolder(tmp_path)
        again = PartitionLog.open(TP, folder.open(TP), log.config, now_ms=NOW_MS, recovery_point=point)
        assert repr(again) == repr(log)
        assert content(again) == content(log)
        assert again.epochs.entries == log.epochs.entries
        assert repr(again.producers.entries) == repr(log.producers.entries)
        assert again.aborted_transactions(14, 24) == log.aborted_transactions(14, 24)
        assert again.segment_base_offsets == log.segment_base_offsets


def test_the_folder_has_kafkas_files(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    log = fill(folder, TP)
    fill(folder, TopicPartition("b", 0)).close()
    log.advance_log_start(13)
    log.close()
    names = {path.name for path in (tmp_path / str(TP)).iterdir()}
    bases = [f"{base:020d}" for base in log.segment_base_offsets]
    assert {f"{base}{suffix}" for base in bases for suffix in (".log", ".index", ".timeindex")} < names
    assert {"00000000000000000024.snapshot", "leader-epoch-checkpoint"} < names
    facts = read_folder_facts(tmp_path)
    assert facts.high_watermarks == {TP: 24, TopicPartition("b", 0): 24}
    assert facts.log_start_offsets == {TP: 13}, "only logs that start above their first segment have a line"
    assert facts.recovery_points == {TP: 24, TopicPartition("b", 0): 24}
    assert (tmp_path / str(TP) / "leader-epoch-checkpoint").read_text() == "0\n2\n1 13\n2 16\n"


def test_empty_files_count_as_missing(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    new, cut, emptied = (TopicPartition("t", number) for number in range(3))
    PartitionLog.open(new, folder.open(new), LogConfig(), now_ms=NOW_MS).close()
    log = fill(folder, cut)
    log.truncate_to(log.aborted_transactions(0, 24)[0].first_offset)
    log.close()
    log = PartitionLog.open(emptied, folder.open(emptied), LogConfig(), now_ms=NOW_MS)
    log.truncate_fully_and_start_at(7)
    log.close()
    PartitionLog.open(emptied, folder.open(emptied), LogConfig(), now_ms=NOW_MS, recovery_point=CLEAN_SHUTDOWN).close()
    folder.close()
    names = ("t-0/leader-epoch-checkpoint", f"t-1/{0:020d}.txnindex", f"t-2/{7:020d}.snapshot")
    assert [(tmp_path / name).stat().st_size for name in names] == [0, 0, 10]
    assert_verified(tmp_path)


def test_partitions_are_found_again_and_deleted(tmp_path: Path) -> None:
    folder = LogFolder(tmp_path)
    for name in ("b", "a"):
        fill(folder, TopicPartition(name, 0)).close()
    (tmp_path / "c-0.0123-delete").mkdir()
    (tmp_path / "cleaner-offset-checkpoint").write_text("0\n0\n")
    assert LogFolder(tmp_path).partitions() == [("a", 0), ("b", 0)]
    folder.delete(TopicPartition("a", 0))
    folder.delete(TopicPartition("a", 0))
    assert LogFolder(tmp_path).partitions() == [("b", 0)]
    assert list(read_folder_facts(tmp_path).high_watermarks) == [("b", 0)]


def test_delayed_checkpoints_are_written_once_in_their_latest_state(
    tmp_path: Path,
) -> None:
    folder = LogFolder(tmp_path)
    stores = [folder.open(TopicPartition("t", number)) for number in range(5)]
    path = tmp_path / "replication-offset-checkpoint"
    with folder.batch():
        for number, store in enumerate(stores):
            store.write_file(HIGH_WATERMARK, b"%d" % number)
    assert not path.exists()
    folder.write_shared()
    assert path.read_text() == "0\n5\n" + "".join(f"t {number} {number}\n" for number in range(5))
    with folder.batch():
        stores[0].write_file(HIGH_WATERMARK, b"7")
    stores[1].write_file(HIGH_WATERMARK, b"8")  # Outside, and so written immediately, with all that was postponed.
    expected = path.read_text()
    assert expected.startswith("0\n5\nt 0 7\nt 1 8\n")
    path.unlink()
    folder.write_shared()
    assert not path.exists(), "nothing is left to be written"


def test_checkpoints_that_could_not_be_written_are_written_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = LogFolder(tmp_path)
    store = folder.open(TP)
    with folder.batch():
        store.write_file(HIGH_WATERMARK, b"7")
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            folder.write_shared()
    assert not (tmp_path / "replication-offset-checkpoint.tmp").exists()
    folder.write_shared()
    assert read_folder_facts(tmp_path).high_watermarks == {TP: 7}


def test_a_log_start_at_the_first_segment_has_no_line(files: FileStore) -> None:
    files.create(10)
    files.write_file(LOG_START_OFFSET, b"15")
    assert files.read_file(LOG_START_OFFSET) == b"15"
    files.write_file(LOG_START_OFFSET, b"10")
    assert files.read_file(LOG_START_OFFSET) is None
