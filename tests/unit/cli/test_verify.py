"""`kmirror verify`: each planted fault is found, and named with file, position and reason."""

from __future__ import annotations

import errno
import gc
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import Struct

import pytest
from click.testing import CliRunner

from kmirror.cli import verify_folder
from kmirror.cli.main import run
from kmirror.cli.quick_start import verify as quick
from kmirror.cli.verify import command
from kmirror.errors import UsageError
from kmirror.log.producer_entry import BatchMetadata, ProducerEntry
from kmirror.log.state_files import decode_snapshot, encode_snapshot
from kmirror.logdir.verify.partition import Job
from kmirror.records.batch import iter_batches
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression, compress
from kmirror.records.crc32c import crc32c
from kmirror.records.legacy import build_message
from kmirror.records.record import RecordData
from tests.builders import batch
from tests.verify_command import copy_sample, flip, segment, verify

NUMBERS_OF_TIME = re.compile(rb"[0-9]+ ms, [0-9.]+ \w+/s|\"elapsed_ms\": [0-9]+")

Damage = Callable[[Path], None]


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A copy of a log folder after a clean shutdown of its broker."""
    return copy_sample(tmp_path / "data")


def put(path: Path, position: int, new: bytes) -> None:
    data = bytearray(path.read_bytes())
    data[position : position + len(new)] = new
    path.write_bytes(data)


# Partition, damaged file, damage, position of the fault, and message.
PLANTED: list[tuple[str, str, Damage, int | None, str]] = [
    ("txn-2", f"{2:020d}.log", lambda path: flip(path, 100), 78, "checksum mismatch: stored"),
    ("txn-2", f"{2:020d}.log", lambda path: flip(path, 15, 1), 0, "leader-epoch-checkpoint says 0"),
    ("txn-2", f"{2:020d}.log", lambda path: put(path, 0, bytes(8)), 0, "an offset below the segment's base offset 2"),
    ("txn-2", f"{2:020d}.log", lambda path: path.write_bytes(path.read_bytes()[:-1]), None, " left"),
    ("txn-2", f"{2:020d}.log", lambda path: put(path, 16, b"\x05"), 0, "message format 5 does not exist"),
    ("txn-2", f"{2:020d}.log", lambda path: put(path, 8, bytes(4)), 0, "length of 0 is too small"),
    ("txn-2", f"{2:020d}.index", lambda path: path.write_bytes(path.read_bytes()[:-1]), None, "expected whole rows"),
    ("txn-2", f"{2:020d}.index", lambda path: flip(path, 7), 0, "where no batch begins"),
    ("txn-2", f"{2:020d}.index", lambda path: flip(path, 3), 0, "the row says that the batch at"),
    ("txn-2", f"{2:020d}.timeindex", lambda path: flip(path, 7), 0, "has the timestamp"),
    ("txn-2", f"{2:020d}.timeindex", lambda path: put(path, 8, b"\x7f"), 0, "the segment ends before"),
    ("txn-2", f"{2:020d}.txnindex", lambda path: flip(path, 9), 0, "aborts producer"),
    ("txn-2", f"{2:020d}.txnindex", lambda path: put(path, 26, b"\x01"), 0, "the last stable offset is"),
    ("txn-2", f"{2:020d}.txnindex", lambda path: path.unlink(), None, "which has no row in"),
    ("txn-2", f"{2:020d}.txnindex", lambda path: flip(path, 1), 0, "has version 1"),
    ("txn-2", f"{46:020d}.snapshot", lambda path: flip(path, 20), 2, "checksum mismatch in a producer snapshot"),
    ("txn-2", f"{46:020d}.snapshot", lambda path: path.rename(segment(path.parent, 99, ".snapshot")), None, "ends at"),
    ("txn-2", "leader-epoch-checkpoint", lambda path: path.write_text("0\n2\n0 0\n1 40\n"), None, "says 1"),
    ("txn-2", "leader-epoch-checkpoint", lambda path: path.write_text("0\n1\nx\n"), None, ""),
    ("txn-2", "partition.metadata", lambda path: path.write_text("version: 0\ntopic_id: short"), None, "no"),
    (
        ".",
        "replication-offset-checkpoint",
        lambda path: path.write_text("0\n1\ntxn 2 9999\n"),
        None,
        "txn-2 is at 9999",
    ),
    (".", "recovery-point-offset-checkpoint", lambda path: path.write_text("7\n"), None, "version 0"),
]


@pytest.mark.parametrize(
    ("partition", "name", "damage", "position", "said"), PLANTED, ids=[f"{row[1]}: {row[4]}" for row in PLANTED]
)
def test_planted_faults(top: Path, partition: str, name: str, damage: Damage, position: int | None, said: str) -> None:
    assert verify(top)[0] == 0
    damage(top / partition / name)
    code, faults, summary = verify(top)
    assert code == 1
    assert summary["faults"] == len(faults) >= 1
    found = [fault for fault in faults if said in fault["reason"]]
    assert found, faults
    if position is not None:
        assert position in [fault["position"] for fault in found]


def test_a_scan_continues_after_a_wrong_checksum(top: Path) -> None:
    path = segment(top / "txn-2", 2)
    positions = [batch.position for batch in iter_batches(path.read_bytes())]
    for position in positions[1:4]:
        flip(path, position + 61)
    _, faults, summary = verify(top / "txn-2")
    told = [fault["position"] for fault in faults if "checksum" in fault["reason"]]
    assert told == positions[1:4]
    assert summary["segments"] == len(list((top / "txn-2").glob("*.log")))


def test_snapshots_are_compared_with_the_log(top: Path) -> None:
    path = max((top / "txn-2").glob("*.snapshot"))
    entries = decode_snapshot(path.read_bytes())
    first = next(entry for entry in entries if entry.batches)
    first.batches[-1] = first.batches[-1]._replace(last_sequence=first.last_sequence + 1)
    path.write_bytes(encode_snapshot(entries))
    _, (fault,), _ = verify(top / "txn-2")
    assert fault["path"] == str(path)
    assert fault["reason"].startswith(f"producer {first.producer_id}: its last sequence is")
    open_ones = [entry for entry in decode_snapshot(path.read_bytes()) if entry.txn_first_offset >= 0]
    assert open_ones, "the sample has an open transaction"
    path.write_bytes(encode_snapshot([entry for entry in entries if entry.txn_first_offset < 0]))
    _, faults, _ = verify(top / "txn-2")
    assert any("is missing, its transaction is open since" in fault["reason"] for fault in faults)


def test_deep_checks_the_records(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    # A batch with a right checksum and wrong records: the count is one too high.
    batch = bytearray(build_batch([RecordData(b"k", b"v", (), 1)] * 2))
    batch[60], batch[26] = 3, 2
    from kmirror.records.crc32c import crc32c

    batch[17:21] = crc32c(bytes(batch[21:])).to_bytes(4, "big")
    segment(folder, 0).write_bytes(batch)
    assert verify(folder)[0] == 0
    code, (fault,), _ = verify(folder, "--deep")
    assert (code, fault["position"], fault["offset"]) == (1, 0, 0)


def test_offsets_and_counts(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    first, second = (build_batch([RecordData(b"k", b"v", (), 1)] * 3, base_offset=base) for base in (0, 2))
    segment(folder, 0).write_bytes(first + second)
    code, (fault,), _ = verify(folder)
    assert (code, fault["position"], fault["offset"]) == (1, len(first), 2)
    assert fault["reason"] == "an offset that is not above 2, the previous one"
    segment(folder, 0).write_bytes(first)
    segment(folder, 2).write_bytes(build_batch([RecordData(b"k", b"v", (), 1)], base_offset=2**31 + 2))
    _, faults, _ = verify(folder)
    assert [fault["reason"] for fault in faults] == [
        "the segment continues to offset 2, but the next one begins with 2",
        "an offset more than 2147483647 above the segment's base offset 2",
    ]


def test_a_batch_of_a_later_segment_is_reported_at_its_place(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    segment(folder, 0).write_bytes(batch() + batch(offset=1) + batch(offset=2))
    segment(folder, 2).write_bytes(batch(offset=3))
    for moved in (2, 9):
        segment(folder, 0).write_bytes(batch() + batch(offset=1) + batch(offset=moved))
        first = verify(folder)[1][0]
        assert (first["position"], first["offset"]) == (2 * len(batch()), moved)
        assert first["reason"] == f"the segment continues to offset {moved}, but the next one begins with 2"


def test_a_deep_check_compares_a_wrappers_offset_with_those_inside(tmp_path: Path) -> None:
    (folder := tmp_path / "orders-0").mkdir()
    inside = build_message(RecordData(None, b"v"), magic=0, offset=3)
    wrapper = RecordData(None, compress(Compression.GZIP, inside))
    segment(folder, 0).write_bytes(build_message(wrapper, magic=0, offset=3, attributes=1))
    assert verify(folder, "--deep")[1] == []
    segment(folder, 0).write_bytes(build_message(wrapper, magic=0, offset=4, attributes=1))
    assert verify(folder)[1] == []
    (fault,) = verify(folder, "--deep")[1]
    assert (fault["position"], fault["reason"]) == (0, "the wrapper has offset 4, but its last message has 3")


def with_crc(batch: bytes) -> bytes:
    return batch[:17] + crc32c(batch[21:]).to_bytes(4, "big") + batch[21:]


def test_a_negative_record_count(tmp_path: Path) -> None:
    (folder := tmp_path / "orders-0").mkdir()
    data = batch()
    segment(folder, 0).write_bytes(with_crc(data[:57] + b"\xff" * 4 + data[61:]))
    assert [fault["reason"] for fault in verify(folder)[1]] == ["-1 records in 1 offset"]


def test_more_records_than_offsets(tmp_path: Path) -> None:
    (folder := tmp_path / "orders-0").mkdir()
    data = batch(offset=1)
    segment(folder, 0).write_bytes(batch() + with_crc(data[:57] + b"\0\0\0\2" + data[61:]) + batch(offset=2))
    assert [fault["reason"] for fault in verify(folder)[1]] == ["2 records in 1 offset"]


def test_a_segment_that_is_larger_than_a_broker_can_open(tmp_path: Path) -> None:
    (folder := tmp_path / "orders-0").mkdir()
    segment(folder, 0).write_bytes(batch())
    os.truncate(segment(folder, 0), 2**31)
    first = verify(folder)[1][0]
    assert (first["position"], first["reason"]) == (None, f"{2**31} bytes, more than the {2**31 - 1} of a segment")


def test_only_a_deep_check_finds_a_wrapper_that_cannot_be_decompressed(tmp_path: Path) -> None:
    (folder := tmp_path / "orders-0").mkdir()
    segment(folder, 0).write_bytes(build_message(RecordData(None, b"no gzip"), magic=1, offset=0, attributes=1))
    assert verify(folder)[1] == []
    (fault,) = verify(folder, "--deep")[1]
    assert "gzip data cannot be decompressed" in fault["reason"]


@pytest.mark.parametrize("breaks", ["nothing", "checksum", "gap"])
def test_a_gap_between_segments_excuses_a_snapshot_and_a_wrong_checksum_does_not(tmp_path: Path, breaks: str) -> None:
    (folder := tmp_path / "orders-0").mkdir()
    first = batch(producer_id=7, producer_epoch=0, base_sequence=0)
    second = batch(offset=1)
    if breaks == "checksum":
        second = second[:-1] + b"!"
    segment(folder, 0).write_bytes(first + second)
    base = 5 if breaks == "gap" else 2
    if breaks == "gap":
        (tmp_path / "cleaner-offset-checkpoint").write_text("0\n1\norders 0 5\n")
    segment(folder, base).write_bytes(batch(offset=base))
    known = ProducerEntry(7, 0, -1, 1)
    known.batches.append(BatchMetadata(1, 1, 0, 1))
    segment(folder, base, ".snapshot").write_bytes(encode_snapshot([known]))
    reasons = [fault["reason"] for fault in verify(folder)[1]]
    told = ["producer 7: its last batch ends at 1, but in the log at 0"]
    assert reasons[-1:] == ([] if breaks == "gap" else told)
    assert len(reasons) == {"nothing": 1, "checksum": 2, "gap": 0}[breaks]


@pytest.mark.parametrize("producer", [0, 7])
def test_a_snapshot_knows_no_older_epoch_of_a_producer_than_the_log(tmp_path: Path, producer: int) -> None:
    (folder := tmp_path / "orders-0").mkdir()
    segment(folder, 0).write_bytes(batch() + batch(offset=1, producer_id=producer, producer_epoch=3, base_sequence=0))
    for epoch, told in ((3, []), (2, [f"producer {producer}: its epoch is 2, but in the log 3"])):
        known = ProducerEntry(producer, epoch, -1, 1)
        known.batches.append(BatchMetadata(0, 1, 0, 1))
        segment(folder, 2, ".snapshot").write_bytes(encode_snapshot([known]))
        assert [fault["reason"] for fault in verify(folder)[1]] == told


def test_a_partition_that_lost_its_segments_ends_where_it_begins(top: Path) -> None:
    folder = top / "txn-2"
    assert (folder / "leader-epoch-checkpoint").exists()
    for path in [*folder.glob("*.log"), *folder.glob("*.snapshot")]:
        path.unlink()
    assert "there is no 00000000000000000000.log" in verify(folder)[1][0]["reason"]
    for path in folder.glob("*index"):
        path.unlink()
    for path in (folder, top):
        reasons = [fault["reason"] for fault in verify(path)[1]]
        assert len(reasons) == 2 and all("txn-2 is at" in reason and "log ends at 0" in reason for reason in reasons)
    alone = shutil.copytree(folder, top.parent / "alone" / "txn-2")
    assert verify(alone)[:2] == (0, []), "nothing says that there was a segment"


def test_a_kill_leaves_rows_of_zeros_only_in_the_last_segment(top: Path) -> None:
    folder = top / "txn-2"
    last, other = max(folder.glob("*.index")), segment(folder, 2, ".index")
    rows, known = last.read_bytes(), verify(folder)[2]["index_entries"]
    for count in (10, 8_192 - len(rows) // 8, 8_192, 20_000):  # The zeros are checked in blocks.
        last.write_bytes(rows + bytes(8 * count))
        code, _, summary = verify(folder)
        assert (code, summary["index_entries"]) == (0, known)
    last.write_bytes(bytes(8 * 20_000))
    assert verify(folder)[:2] == (0, [])
    other.write_bytes(other.read_bytes() + bytes(8))
    assert verify(folder)[0] == 1


def test_folders_that_a_broker_has_set_aside_are_named(top: Path) -> None:
    before = verify(top)
    names = [f"txn-2.{'0a' * 16}-{kind}" for kind in ("delete", "future", "stray")]
    for name in reversed(names):
        (top / name).mkdir()
        segment(top / name, 0).write_bytes(b"not a batch")
    (top / "clients-2.0a-future").touch()
    (top / "notes-delete").mkdir()
    code, faults, summary = verify(top)
    assert (code, faults) == before[:2]
    assert [Path(text.partition(":")[0]).name for text in summary["skipped"]] == names
    assert "a move between disks was not finished" in summary["skipped"][1]


def test_a_segment_that_is_swapped_in_has_indexes_of_its_own(top: Path) -> None:
    """Kafka renames its files one by one, and until then the old segment's exist under the plain names."""
    folder, suffixes = top / "txn-2", (".log", ".index", ".timeindex", ".txnindex")
    paths = [segment(folder, 2, suffix) for suffix in suffixes]
    for path in paths:
        path.rename(f"{path}.swap")
        path.write_bytes(b"\x7f" * 68)
    assert verify(folder)[:2] == (0, [])
    swap = Path(f"{paths[1]}.swap")
    flip(swap, 7)
    assert [fault["path"] for fault in verify(folder)[1]] == [str(swap)]
    flip(swap, 7)
    for path in paths:
        assert verify(folder)[:2] == (0, [])
        path.unlink()
        assert verify(folder)[:2] == (0, [])  # Now the old one is deleted.
    for path in paths[:-1]:
        Path(f"{path}.swap").rename(path)
        assert verify(folder)[:2] == (0, [])
    Path(f"{paths[-1]}.swap").unlink()
    fault = verify(folder)[1][0]
    assert "which has no row in" in fault["reason"]
    assert fault["path"] == str(paths[0]), "the marker is there"


def test_an_incomplete_swap_is_ignored(top: Path) -> None:
    folder = top / "txn-2"
    segment(folder, 2, ".txnindex.cleaned").touch()
    for suffix in (".log", ".index", ".timeindex"):
        segment(folder, 2, f"{suffix}.swap").write_bytes(b"\x7f" * 68)
    assert verify(folder)[:2] == (0, [])


def test_a_kill_during_a_recovery_leaves_incomplete_indexes(top: Path) -> None:
    """Records above the recovery point are recovered again; the broker has started to rebuild these indexes."""
    folder = top / "txn-2"
    (top / ".kafka_cleanshutdown").unlink()
    points = top / "recovery-point-offset-checkpoint"
    times, aborts = segment(folder, 2, ".timeindex"), segment(folder, 2, ".txnindex")
    rows = times.read_bytes()
    for damage in (lambda: times.write_bytes(rows[:12] + bytes(1200)), aborts.unlink):
        damage()
        for text in ("0\n1\ntxn 2 42\n", "0\n0\n", None):
            points.unlink() if text is None else points.write_text(text)
            assert verify(top)[:2] == (0, []), text
        points.write_text("0\n1\ntxn 2 43\n")
        assert verify(top)[0] == 1
        (top / ".kafka_cleanshutdown").touch()
        points.write_text("0\n1\ntxn 2 55\n")
        assert verify(top)[0] == 1
        (top / ".kafka_cleanshutdown").unlink()
        times.write_bytes(rows)


def test_producers_of_a_snapshot_may_be_from_before_the_log(tmp_path: Path) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    segment(folder, 5).write_bytes(build_batch([RecordData(b"k", b"v", (), 1)], base_offset=5))
    segment(folder, 5, ".snapshot").write_bytes(encode_snapshot([ProducerEntry(7, 0, -1, 1, 3)]))
    assert verify(folder)[0] == 0


def test_text_and_refusals(top: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(command, [str(top)], standalone_mode=False)
    assert result.stdout.startswith("no fault in 5 partitions, ")
    flip(segment(top / "txn-2", 2), 100)
    result = CliRunner().invoke(command, [str(top / "txn-2")], standalone_mode=False)
    path = segment(top / "txn-2", 2)
    assert result.stdout.splitlines()[0].startswith(f"{path}, position 78, offset 3: checksum mismatch: stored")
    assert result.return_value == 1
    refused = CliRunner().invoke(command, [str(tmp_path / "nowhere")], standalone_mode=False)
    assert isinstance(refused.exception, UsageError)


def test_no_bar_is_loaded_where_stderr_is_no_terminal(top: Path) -> None:
    """With logs of ordinary size the start of the process matters."""
    program = "import sys; from kmirror.cli.main import run\ntry: run(sys.argv[1:])\nfinally: print(*sys.modules)"
    environment = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "TTY_COMPATIBLE")}
    arguments = [sys.executable, "-c", program, "verify", str(top)]
    told = subprocess.run(arguments, capture_output=True, text=True, env=environment, check=False)
    assert told.returncode == 0, told.stderr
    loaded = set(told.stdout.split())
    assert "kmirror.logdir.verify.partition" in loaded
    assert not {"rich", "click", "dataclasses", "asyncio", "numpy", "importlib.metadata"} & loaded


def test_garbage_is_collected_while_a_folder_is_verified(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    was_enabled: list[bool] = []
    monkeypatch.setattr(verify_folder, "open_job", lambda *_: was_enabled.append(gc.isenabled()) or Job(top, [], None))
    with pytest.raises(SystemExit):
        run(["verify", str(top)])
    gc.unfreeze()
    assert was_enabled == [True]


@pytest.mark.parametrize(
    "options", [(), ("--deep",), ("-o", "json"), ("--output", "text", "--deep")], ids=lambda options: " ".join(options)
)
def test_plain_arguments_are_parsed_as_by_click(
    top: Path, capsysbinary: pytest.CaptureFixture[bytes], options: tuple[str, ...]
) -> None:
    flip(segment(top / "txn-2", 2), 100)
    for words in ([str(top), *options], [*options, str(top)]):
        assert quick(words) == 1
        mine = capsysbinary.readouterr().out
        by_click = CliRunner().invoke(command, words, standalone_mode=False)
        assert by_click.return_value == 1
        assert NUMBERS_OF_TIME.sub(b"", mine) == NUMBERS_OF_TIME.sub(b"", by_click.stdout_bytes)


def test_a_deep_check_takes_the_quick_path_too(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (folder := tmp_path / "orders-0").mkdir()
    segment(folder, 0).write_bytes(build_message(RecordData(None, b"no gzip"), magic=1, offset=0, attributes=1))
    assert [quick([str(folder)]), quick(["--deep", str(folder)])] == [0, 1]
    assert b"gzip data cannot be decompressed" in capsysbinary.readouterr().out


def test_checked_files_are_counted_and_timed(
    top: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    passed: list[int] = []
    titles: list[tuple[str, int]] = []

    @contextmanager
    def watched(title: str, total: int) -> Iterator[Callable[[int], None]]:
        titles.append((title, total))
        yield passed.append

    monkeypatch.setattr(verify_folder, "byte_progress", watched)
    monkeypatch.setattr(verify_folder.time, "monotonic_ns", iter((0, 2_500_000_000, 0, 2_500_000_000)).__next__)
    assert quick([str(top), "-o", "json"]) == 0
    summary = json.loads(capsysbinary.readouterr().out)
    assert summary["elapsed_ms"] == 2500
    assert titles == [(f"verify {top}", summary["bytes"])] and sum(passed) == summary["bytes"]
    (top / "txn-2" / "leader-epoch-checkpoint").write_text("x")
    (top / "clients-2" / "leader-epoch-checkpoint").write_text("x")
    assert quick([str(top)]) == 1
    last = capsysbinary.readouterr().out.decode().splitlines()[-1]
    assert last.startswith("2 faults in 5 partitions, ") and "; 2500 ms, " in last


@pytest.mark.parametrize("words", [["verify", "DIR"], ["verify", "--output=text", "DIR"], ["diff", "DIR", "DIR"]])
def test_a_closed_stderr_is_nothing_to_fail_for(top: Path, words: list[str]) -> None:
    named = [str(top / "txn-2") if word == "DIR" else word for word in words]
    shell = ["sh", "-c", 'exec "$@" 2>&-', "sh", sys.executable, "-m", "kmirror", *named]
    ended = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout


@pytest.mark.parametrize(
    "words",
    [
        *([], ["--help"], ["-h"], ["DIR", "-h"], ["DIR", "--nope"], ["DIR", "DIR"], ["-o", "json"], ["DIR", "-o"]),
        *(["DIR", "-o", "yaml"], ["DIR", "-ojson"], ["DIR", "--output=json"], ["--", "DIR"], ["DIR", "-"]),
    ],
    ids=" ".join,
)
def test_other_words_are_left_to_click(words: list[str]) -> None:
    assert quick(words) is None


@pytest.mark.parametrize("row", [b"\xff" * 8, Struct(">ii").pack(1, 0)], ids=["negative", "the same again"])
def test_an_index_may_be_wrong_from_end_to_end(tmp_path: Path, row: bytes) -> None:
    folder = tmp_path / "orders-0"
    folder.mkdir()
    for base in (0, 4):
        data = build_batch([RecordData(None, b"v", (), 1)] * 4, base_offset=base, partition_leader_epoch=0)
        (folder / f"{base:020d}.log").write_bytes(data)
    (folder / f"{0:020d}.index").write_bytes(row * 3000)
    (folder / f"{0:020d}.timeindex").write_bytes(b"\xff" * 12 * 3000)
    code, faults, summary = verify(folder)
    assert code == 1
    assert summary["index_entries"] == 6000
    of_the_index = [fault for fault in faults if fault["path"].endswith(".index")]
    assert {fault["position"] for fault in of_the_index} == set(range(0, 24_000, 8))


def test_a_folder_that_cannot_be_listed_is_a_fault(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = os.scandir

    def refused(path: Path) -> object:
        if Path(path).name == "txn-2":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refused)
    code, faults, _ = verify(top)
    assert code == 1
    assert [(fault["path"], fault["reason"]) for fault in faults if fault["path"].endswith("txn-2")] == [
        (str(top / "txn-2"), "cannot be read: Permission denied")
    ]
