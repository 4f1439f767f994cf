"""`kmirror demo`: exit codes, its JSON, and its messages about folders that it cannot use."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from kmirror.assembly.mirrors import MirrorRow
from kmirror.cli.demo import failback_table, mirror_table
from kmirror.experiments.demo import Failback
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState

OLD_LOGS = Path(__file__).resolve().parents[2] / "data" / "log" / "legacy-2.1"
FAILOVER_KEYS = {"topic", "partition", "log_end_offset", "cut_offset", "last_mirrored_epoch", "leader_epoch"}
FAILBACK_KEYS = {"topic", "partition", "cut_offset", "lost_first_offset", "lost_end_offset"}


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kmirror", "demo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A writable copy of the embedded sample."""
    with resources.as_file(resources.files("kmirror.logdir") / "sample") as sample:
        shutil.copytree(sample, tmp_path / "logs")
    for path in (tmp_path / "logs").rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return tmp_path / "logs"


def test_stdout_has_only_json_with_the_documented_keys() -> None:
    result = demo("--topic", "txn", "--topic", "retention", "--seed", "3", "-o", "json")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    report = json.loads(result.stdout)
    assert set(report) == {
        "seed",
        "digest",
        "mirrored",
        "equal_after_mirror",
        "failover",
        "failback",
        "equal_after_failback",
    }
    assert report["seed"] == 3
    assert set(report["mirrored"]) == {"topics", "partitions", "batches", "bytes"}
    assert report["mirrored"]["topics"] == 2
    assert report["mirrored"]["partitions"] == 6
    assert report["equal_after_mirror"] is True and report["equal_after_failback"] is True
    for row in report["failover"]:
        assert set(row) == FAILOVER_KEYS
        assert row["cut_offset"] <= row["log_end_offset"]
        assert row["leader_epoch"] > row["last_mirrored_epoch"]
    for row in report["failback"]:
        assert set(row) == FAILBACK_KEYS
        assert row["cut_offset"] <= row["lost_first_offset"] < row["lost_end_offset"]


def test_an_undecided_transaction_is_truncated_at_failover() -> None:
    result = demo("--topic", "codecs", "-o", "json")
    rows = {row["partition"]: row for row in json.loads(result.stdout)["failover"]}
    assert rows[0]["log_end_offset"] - rows[0]["cut_offset"] == 2
    assert all(rows[p]["log_end_offset"] == rows[p]["cut_offset"] for p in (1, 2, 3))


def test_people_see_tables_and_a_summary() -> None:
    result = demo("--topic", "idem", "--faults")
    assert result.returncode == 0, result.stderr
    for text in ("SOURCE-OFFSET", "DESTINATION-OFFSET", "LAST-MIRRORED-EPOCH", "LOST-OFFSETS", "killed", "digest"):
        assert text in result.stdout
    assert "mirrored 1 topic, 2 partitions" in result.stdout


def test_a_topic_that_is_not_there_is_named() -> None:
    result = demo("--topic", "no-such-topic")
    assert result.returncode == 1
    assert "no-such-topic" in result.stderr
    assert "Traceback" not in result.stderr and result.stdout == ""


@pytest.mark.parametrize("name", ["missing", "file", "empty"])
def test_a_folder_without_a_log_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("no folder")
    result = demo("--data", str(tmp_path / name))
    assert result.returncode == 1
    assert str(tmp_path / name) in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_corrupt_segment_is_named_and_the_folder_stays_as_it_is(folder: Path) -> None:
    segment = folder / "codecs-0" / "00000000000000000000.log"
    data = bytearray(segment.read_bytes())
    data[100] ^= 1
    segment.write_bytes(data)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    result = demo("--data", str(folder))
    assert result.returncode == 1
    assert segment.name in result.stderr and "position 0" in result.stderr and "offset 0" in result.stderr
    assert "CRC" in result.stderr or "checksum" in result.stderr
    assert result.stderr.endswith(
        "; copy the folder again after a clean shutdown of the broker, or select other topics\n"
    )
    assert "Traceback" not in result.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_a_truncated_segment_is_named(folder: Path) -> None:
    segment = sorted((folder / "txn-0").glob("*.log"))[-1]
    segment.write_bytes(segment.read_bytes()[:-5])
    result = demo("--data", str(folder))
    assert result.returncode == 1
    assert segment.name in result.stderr
    assert "Traceback" not in result.stderr


def test_a_long_table_shows_lagging_partitions_first(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    rows = [
        MirrorRow(TopicPartition("t", n), 10, 10 - (n == 7), int(n == 7), MirrorState.MIRRORING, -1) for n in range(9)
    ]
    Console(width=140).print(mirror_table(rows, 3, 140))
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["demo", "t", "7", "10", "9", "1", "MIRRORING"]
    assert "6 more" in lines[-1]


def test_a_demo_without_losses_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    Console(width=140).print(failback_table([Failback(TopicPartition("t", 0), 5, 5, 5)], 140))
    assert "none" in capsys.readouterr().out


def test_partitions_that_live_on_other_brokers_are_not_counted(folder: Path) -> None:
    for name in ("codecs-0", "codecs-2"):
        shutil.rmtree(folder / name)
    result = demo("--data", str(folder), "--topic", "codecs", "-o", "json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["mirrored"]["partitions"] == 2
    assert [row["partition"] for row in report["failover"]] == [1, 3]


@pytest.fixture
def old_folder(tmp_path: Path) -> Path:
    """A writable copy of logs that Kafka 2.1.1 wrote, in all three message formats."""
    shutil.copytree(OLD_LOGS, tmp_path / "old")
    return tmp_path / "old"


@pytest.mark.decision("D21")
def test_old_message_formats_are_mirrored_there_and_back(old_folder: Path) -> None:
    result = demo("--data", str(old_folder), "--faults", "-o", "json")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    report = json.loads(result.stdout)
    assert (report["mirrored"]["topics"], report["mirrored"]["partitions"]) == (3, 3)
    assert report["equal_after_mirror"] is True and report["equal_after_failback"] is True
    ends = {"mixed-012": 73, "v0": 60, "v1": 67}
    for row in report["failback"]:
        assert row["cut_offset"] >= ends[row["topic"]], "the old messages stay where they are"


@pytest.mark.decision("D21")
def test_a_damaged_message_of_an_old_format_ends_with_its_place(old_folder: Path) -> None:
    segment = old_folder / "v1-1" / "00000000000000000000.log"
    data = bytearray(segment.read_bytes())
    data[30] ^= 1
    segment.write_bytes(data)
    result = demo("--data", str(old_folder))
    assert result.returncode == 1
    assert f"{segment}, position 0, offset 0: " in result.stderr and "checksum" in result.stderr
    assert "Traceback" not in result.stderr
