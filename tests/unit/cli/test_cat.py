"""`kmirror cat`: formats, bounds, and logs with a damaged end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kmirror.cli.cat import command
from kmirror.errors import KmirrorError, UsageError
from kmirror.log.producer_entry import ProducerEntry
from kmirror.log.state_files import encode_snapshot
from kmirror.logdir.partition import open_partition
from kmirror.records.build import build_batch
from kmirror.records.control import mirror_pid_reset
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from tests.builders import marker, write_segment


def cat(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(command, [str(folder), *options])


def offsets(folder: Path, *options: str) -> list[int]:
    result = cat(folder, "-o", "json", *options)
    assert result.exception is None, result.exception
    return [json.loads(line)["offset"] for line in result.stdout.splitlines()]


def data(offset: int, *, producer_id: int = -1, count: int = 1, timestamp: int = 10) -> bytes:
    is_transactional = producer_id >= 0
    return build_batch(
        [RecordData(b"k%d" % (offset + index), b"v", (), timestamp + index) for index in range(count)],
        base_offset=offset,
        partition_leader_epoch=0,
        producer_id=producer_id,
        producer_epoch=0 if is_transactional else -1,
        base_sequence=0 if is_transactional else -1,
        is_transactional=is_transactional,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "some-topic-7"
    path.mkdir()
    return path


def checkpoint(folder: Path, name: str, offset: int) -> None:
    (folder.parent / name).write_text(f"0\n1\nsome-topic 7 {offset}\n")


def test_values_are_printed_a_line_each_by_default(folder: Path) -> None:
    write_segment(folder, data(0, count=2))
    assert cat(folder).stdout_bytes == b"v\nv\n"


def test_formats(folder: Path) -> None:
    record = RecordData(b"k", None, [("a", b"1"), ("b", None), ("c", b"")], 10)
    write_segment(folder, build_batch([record], base_offset=0))
    assert cat(folder, "--format", r"%t[%p]@%o %T %k/%K %s/%S %h%%\t\x41\\\n").stdout_bytes == (
        b"some-topic[7]@0 10 k/1 /-1 a=1,b=NULL,c=%\tA\\\n"
    )
    stamped = cat(folder, "-f", "%T %I").stdout
    assert stamped == "10 1970-01-01T00:00:00.010Z"
    assert cat(folder, "--format", "%R").stdout_bytes == b"\xff\xff\xff\xff"
    assert cat(folder, "--format", os.fsdecode(b"\xff%o")).stdout_bytes == b"\xff0"  # A shell passes any byte.


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("%z", "unknown %z"),
        ("%", "unknown %"),
        (r"\q", r"unknown \q"),
        (r"\x4", "two hexadecimal"),
    ],
)
def test_a_format_that_does_not_exist_is_refused(folder: Path, template: str, text: str) -> None:
    write_segment(folder, data(0))
    result = cat(folder, "--format", template)
    assert isinstance(result.exception, UsageError)
    assert text in str(result.exception)


def test_a_format_is_for_text(folder: Path) -> None:
    write_segment(folder, data(0))
    result = cat(folder, "-o", "json", "--format", "%o")
    assert isinstance(result.exception, UsageError)
    assert "--format cannot be used with -o json" in str(result.exception)


def test_a_record_without_a_timestamp_has_no_text_for_it(folder: Path) -> None:
    write_segment(folder, build_message_set([RecordData(None, b"v")], magic=0))
    assert cat(folder, "-f", "[%T][%I]").stdout == "[-1][]"


def test_cat_reads_from_log_start_to_high_watermark(folder: Path) -> None:
    write_segment(folder, data(0, count=5), data(5, count=5), data(10))
    assert offsets(folder) == list(range(11))
    checkpoint(folder, "log-start-offset-checkpoint", 3)
    checkpoint(folder, "replication-offset-checkpoint", 10)
    assert offsets(folder) == list(range(3, 10))
    assert offsets(folder, "--to-end") == list(range(3, 11))
    assert offsets(folder, "--from-offset", "8") == [8, 9]
    checkpoint(folder, "replication-offset-checkpoint", 0)
    assert offsets(folder) == []


def test_a_torn_tail_above_the_high_watermark_is_not_read(folder: Path) -> None:
    path = write_segment(folder, data(0, count=5), data(5)[:-1])
    checkpoint(folder, "replication-offset-checkpoint", 5)
    assert offsets(folder) == [0, 1, 2, 3, 4]
    result = cat(folder, "--to-end", "--format", "%o ")
    assert result.stdout == "0 1 2 3 4 "
    assert str(result.exception).startswith(f"{path}, position {len(data(0, count=5))}")


def test_a_wrong_checksum_ends_it_with_the_place(folder: Path) -> None:
    damaged = bytearray(data(1))
    damaged[-1] ^= 1
    path = write_segment(folder, data(0), bytes(damaged))
    result = cat(folder, "-o", "json")
    assert len(result.stdout.splitlines()) == 1
    assert isinstance(result.exception, KmirrorError)
    assert str(result.exception).startswith(f"{path}, position {len(data(0))}, offset 1: checksum mismatch: stored")


def test_read_committed_omits_aborted_and_open_transactions(folder: Path) -> None:
    write_segment(
        folder,
        data(0, producer_id=1),
        data(1, producer_id=2),
        data(2),
        marker(offset=3, pid=1, commit=False),
        data(4, producer_id=1),  # Another transaction of the same producer.
        marker(offset=5, pid=2, commit=True),
        marker(offset=6, pid=1, commit=True),
        data(7, producer_id=3),
        data(8),
    )
    assert offsets(folder) == [0, 1, 2, 4, 7, 8]
    assert offsets(folder, "--read-committed") == [1, 2, 4]
    assert offsets(folder, "--read-committed", "--from-offset", "2") == [2, 4]


def test_a_transaction_that_ends_above_the_high_watermark_is_open(folder: Path) -> None:
    write_segment(folder, data(0), data(1, producer_id=1), data(2), marker(offset=3, pid=1, commit=True))
    checkpoint(folder, "replication-offset-checkpoint", 3)
    assert offsets(folder, "--read-committed") == [0]


def test_a_transaction_begun_below_the_log_start_is_known_from_the_snapshot(folder: Path) -> None:
    write_segment(
        folder, data(20, producer_id=1), marker(offset=21, pid=1, commit=False), data(22, producer_id=4), base_offset=20
    )
    entries = [ProducerEntry(1, 0, -1, 10, 12), ProducerEntry(4, 0, -1, 10, -1)]
    (folder / f"{20:020d}.snapshot").write_bytes(encode_snapshot(entries))
    assert offsets(folder) == [20, 22]
    assert offsets(folder, "--read-committed") == []
    write_segment(folder, data(20, producer_id=1), marker(offset=21, pid=1, commit=False), data(22), base_offset=20)
    assert offsets(folder, "--read-committed") == [22]


@pytest.mark.decision("D15")
def test_after_a_pid_reset_no_transaction_of_before_is_open(folder: Path) -> None:
    reset = mirror_pid_reset(base_offset=1, leader_epoch=0, timestamp_ms=10, source_cluster_id="source")
    write_segment(folder, data(0, producer_id=1), reset, data(2))
    assert offsets(folder, "--read-committed") == [0, 2]


def test_a_timestamp_is_where_reading_begins_not_a_filter(folder: Path) -> None:
    write_segment(folder, data(0, count=3, timestamp=10), data(3, timestamp=20), data(4, timestamp=5))
    assert offsets(folder, "--timestamp", "12") == [2, 3, 4]
    assert offsets(folder, "--timestamp", "20") == [3, 4]
    assert offsets(folder, "--timestamp", "21") == []
    assert offsets(folder, "--timestamp", "11", "--from-offset", "3") == [3, 4]
    write_segment(
        folder,
        data(0, producer_id=1, timestamp=10),
        marker(offset=1, pid=1, commit=False, timestamp=30),
        data(2, timestamp=5),
    )
    assert offsets(folder, "--timestamp", "30") == [2]  # The marker is the first batch that is not older.
    assert offsets(folder, "--timestamp", "10", "--read-committed") == [2]


def test_a_timestamp_is_searched_from_the_log_start_on(folder: Path) -> None:
    write_segment(folder, data(0, count=3, timestamp=30), data(3, timestamp=5), data(4, timestamp=30))
    checkpoint(folder, "log-start-offset-checkpoint", 3)
    assert offsets(folder, "--timestamp", "30") == [4]
    write_segment(folder, data(0, count=2, timestamp=29), data(2, timestamp=5), data(3, timestamp=30))
    checkpoint(folder, "log-start-offset-checkpoint", 1)
    assert offsets(folder, "--timestamp", "29") == [1, 2, 3]
    batch = build_batch([RecordData(b"k", b"v", (), stamp) for stamp in (30, 5, 30)], base_offset=0)
    write_segment(folder, batch, data(3))
    assert offsets(folder, "--timestamp", "30") == [2, 3]
    assert offsets(folder, "--timestamp", "30", "--from-offset", "1") == [2, 3]


def test_an_emptied_marker_is_not_found_by_timestamp(folder: Path) -> None:
    header = build_batch(
        [], base_offset=0, producer_id=1, producer_epoch=0, is_transactional=True, is_control=True,
        last_offset_delta=0, base_timestamp=-1, max_timestamp=30,
    )  # fmt: skip
    write_segment(folder, header, data(1, timestamp=5), data(2, timestamp=30))
    assert offsets(folder, "--timestamp", "30") == [2]


def test_old_formats(folder: Path) -> None:
    first = build_message_set([RecordData(b"k", b"v", (), 5)] * 2, magic=0, base_offset=0)
    second = build_message_set([RecordData(None, b"w", (), 6)], magic=1, base_offset=2)
    write_segment(folder, first, second, data(3))
    rows = [json.loads(line) for line in cat(folder, "-o", "json").stdout.splitlines()]
    assert [row["timestamp_type"] for row in rows] == ["NoTimestampType"] * 2 + ["CreateTime"] * 2
    assert [row["timestamp_utc"] for row in rows[:2]] == [None, None]
    assert [row["leader_epoch"] for row in rows] == [None, None, None, 0]
    assert rows[2] == {
        "topic": "some-topic", "partition": 7, "offset": 2, "timestamp": 6, "timestamp_utc": "1970-01-01T00:00:00.006Z",
        "timestamp_type": "CreateTime", "leader_epoch": None, "key": None, "value": "w", "headers": [],
    }  # fmt: skip


def test_a_folder_that_is_no_partition_is_refused_with_advice(folder: Path, tmp_path: Path) -> None:
    write_segment(folder, data(0))
    told = f"{tmp_path}: a log folder with some-topic: select a topic with --topic, or give {folder}"
    assert str(cat(tmp_path).exception) == told
    assert "no such folder" in str(cat(tmp_path / "x-0").exception)
    assert "is not a folder" in str(cat(write_segment(folder, data(0))).exception)
    (tmp_path / "nothing").mkdir()
    assert "contains no segment files" in str(cat(tmp_path / "nothing").exception)


def test_a_folder_being_deleted_can_be_read(folder: Path) -> None:
    write_segment(folder, data(0))
    renamed = folder.rename(folder.with_name("some-topic-7.60d9fcf42c904bdb8a69f8cc8a102420-delete"))
    assert cat(renamed, "--format", "%t %p %o").stdout == "some-topic 7 0"


def test_checkpoints_apply_to_the_new_folder_of_a_partition_if_it_exists(folder: Path) -> None:
    write_segment(folder, data(0, count=4), data(4))
    checkpoint(folder, "log-start-offset-checkpoint", 3)
    checkpoint(folder, "replication-offset-checkpoint", 4)
    old = folder.with_name("some-topic-7.b4379a1025d545d4a0eb1bc6e8983526-delete")
    folder.rename(old)
    assert offsets(old) == [3]
    folder.mkdir()
    assert offsets(old) == [0, 1, 2, 3, 4]


def test_the_relative_name_of_the_folder_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_segment(folder, data(0))
    monkeypatch.chdir(folder)
    assert cat(Path("."), "--format", "%t").stdout == "some-topic"
    assert open_partition(str(folder)).tp == open_partition(folder).tp


def test_a_link_to_a_folder_elsewhere_has_its_own_name_and_checkpoints(folder: Path, tmp_path: Path) -> None:
    write_segment(folder, data(0), data(1))
    (tmp_path / "other-disk").mkdir()
    link = tmp_path / "other-disk" / "renamed-3"
    link.symlink_to(folder)
    (link.parent / "log-start-offset-checkpoint").write_text("0\n1\nrenamed 3 1\n")
    assert cat(link, "--format", "%t %p %o").stdout == "renamed 3 1"
