"""`kmirror diff`: every kind of difference is put in words, and what may differ is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kmirror.cli.diff import command
from kmirror.errors import UsageError
from kmirror.logdir.compare.partitions import compare, pair_folders
from kmirror.records.codecs import Compression
from kmirror.records.control import mirror_pid_reset
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from tests.builders import batch_of


def keyed(offset: int = 0, *, values: tuple[bytes, ...] = (b"v",), epoch: int = 0, **fields: Any) -> bytes:
    return batch_of(*values, key=b"k", offset=offset, epoch=epoch, timestamp=10, **fields)


class Logs:
    """Two log folders with a partition each."""

    def __init__(self, top: Path) -> None:
        self.left, self.right = top / "a" / "t-0", top / "b" / "t-0"
        for folder in (self.left, self.right):
            folder.mkdir(parents=True)

    def write(self, left: bytes, right: bytes, *, base_offset: int = 0) -> None:
        for folder, data in ((self.left, left), (self.right, right)):
            (folder / f"{base_offset:020d}.log").write_bytes(data)

    def diff(self, *options: str) -> list[dict[str, Any]]:
        result = CliRunner().invoke(
            command, [str(self.left), str(self.right), "-o", "json", *options], standalone_mode=False
        )
        *rows, self.summary = [json.loads(line) for line in result.stdout.splitlines()]
        assert result.return_value == int(bool(rows)), result.exception
        assert self.summary["differences"] == len(rows)
        return rows

    summary: dict[str, Any]


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


LONG = b"".join(b"%d" % number for number in range(500))
DIFFERENT: list[tuple[bytes, bytes, str, Any, Any]] = [
    (keyed(1), keyed(2), "base offset", 1, 2),
    (keyed(1, values=(b"v", b"w")), keyed(1), "last offset", 2, 1),
    (keyed(1, epoch=3), keyed(1, epoch=4), "leader epoch", 3, 4),
    (
        keyed(1, producer_id=5, producer_epoch=0, base_sequence=0),
        keyed(1, producer_id=6, producer_epoch=0, base_sequence=0),
        "producer id", 5, 6,
    ),
    (
        keyed(1, producer_id=5, producer_epoch=0, base_sequence=7),
        keyed(1, producer_id=5, producer_epoch=0, base_sequence=8),
        "base sequence", 7, 8,
    ),
    (
        keyed(1, producer_id=5, producer_epoch=3, base_sequence=7),
        keyed(1, producer_id=5, producer_epoch=4, base_sequence=7),
        "producer epoch", 3, 4,
    ),
    (
        keyed(1, values=(b"v", b"w")), keyed(1, last_offset_delta=1),
        "record count", 2, 1,
    ),
    (keyed(1), keyed(1, delete_horizon_ms=9), "base timestamp", 10, 9),
    (keyed(1), keyed(1, max_timestamp=11), "max timestamp", 10, 11),
    (
        keyed(1, compression=Compression.GZIP), keyed(1),
        "attributes", "0x01 (gzip, create_time)", "0x00 (none, create_time)",
    ),
    (keyed(1, values=(b"v",)), keyed(1, values=(b"w",)), "record value", "b'v'", "b'w'"),
    (
        keyed(1, values=(LONG,), compression=Compression.GZIP),
        keyed(1, values=(LONG,), compression=Compression.GZIP, level=1),
        "CRC", None, None,
    ),
    (keyed(1), build_message_set([RecordData(b"k", b"v", (), 10)], magic=1, base_offset=1), "message format", 2, 1),
]  # fmt: skip


@pytest.mark.parametrize(("left", "right", "field", "one", "other"), DIFFERENT, ids=[row[2] for row in DIFFERENT])
def test_fields(logs: Logs, left: bytes, right: bytes, field: str, one: Any, other: Any) -> None:
    logs.write(keyed(0) + left, keyed(0) + right)
    (row,) = logs.diff()
    assert (row["topic"], row["partition"], row["offset"], row["field"]) == ("t", 0, 1, field)
    if one is not None:
        assert (row["left"], row["right"]) == (one, other)
    assert row["text"] == f"{field} is {row['left']} on the left and {row['right']} on the right"
    assert logs.summary["batches"] == 1


def test_a_byte_that_no_field_has(logs: Logs) -> None:
    data = bytearray(keyed(0))
    data[21] ^= 0x80  # The upper byte of the attributes means nothing.
    logs.write(keyed(0), bytes(data))
    (row,) = logs.diff()
    assert (row["field"], row["left"], row["right"]) == ("byte 21 of the batch", "0x00", "0x80")


def test_equal_bytes_are_equal_also_in_a_format_that_does_not_exist(logs: Logs) -> None:
    message = bytearray(build_message_set([RecordData(b"k", b"v", (), 10)], magic=1, base_offset=1))
    message[16] = 0x82
    logs.write(keyed(0) + message, keyed(0) + message)
    assert logs.diff() == []
    assert logs.summary["batches"] == 2


def test_a_batch_that_is_longer_and_says_nothing_more(logs: Logs) -> None:
    left = keyed(0)
    right = left[:8] + (len(left) - 11).to_bytes(4, "big") + left[12:] + b"!"
    logs.write(left, right)
    (row,) = logs.diff()
    assert (row["field"], row["left"], row["right"]) == ("size in bytes", len(left), len(left) + 1)


def test_old_messages(logs: Logs) -> None:
    left, right = (
        build_message_set([RecordData(b"k", value, (), 10)], magic=1, base_offset=0) for value in (b"v", b"w")
    )
    logs.write(left, right)
    (row,) = logs.diff()
    assert (row["offset"], row["field"], row["left"], row["right"]) == (0, "record value", "b'v'", "b'w'")


def test_segments_may_be_cut_elsewhere(logs: Logs) -> None:
    parts = [keyed(offset, values=(b"v" * 50,)) for offset in range(40)]
    logs.write(b"".join(parts[:7]), b"".join(parts[:20]))
    (logs.left / f"{7:020d}.log").write_bytes(b"".join(parts[7:]))
    (logs.right / f"{20:020d}.log").write_bytes(b"".join(parts[20:]))
    assert logs.diff() == []
    assert logs.summary["batches"] == 40


def test_the_higher_log_start_is_where_it_begins(logs: Logs) -> None:
    logs.write(keyed(0, values=(b"left",)) + keyed(1), keyed(0) + keyed(1))
    (logs.right.parent / "log-start-offset-checkpoint").write_text("0\n1\nt 0 1\n")
    assert logs.diff() == []
    assert logs.summary["notes"] == ["t-0: the logs start at 0 and 1; compared from 1"]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_log_that_ends_earlier(logs: Logs, swapped: bool) -> None:
    sides = [keyed(0) + keyed(1), keyed(0)]
    logs.write(*(reversed(sides) if swapped else sides))
    (row,) = logs.diff()
    assert (row["offset"], row["field"]) == (1, "log end offset")
    assert (row["left"], row["right"]) == ((1, None) if swapped else (None, 1))


@pytest.mark.kip("1279", "failover")
def test_until_lso_leaves_out_what_a_failover_cuts(logs: Logs) -> None:
    decided = keyed(0) + keyed(1)
    undecided = keyed(2, producer_id=5, producer_epoch=0, base_sequence=0, is_transactional=True) + keyed(3)
    reset = mirror_pid_reset(base_offset=2, leader_epoch=1, timestamp_ms=10, source_cluster_id="a")
    logs.write(decided + undecided, decided + reset)
    assert logs.diff("--until-lso") == []
    assert logs.summary["batches"] == 2
    (row,) = logs.diff()
    assert (row["offset"], row["field"], row["left"], row["right"]) == (2, "leader epoch", 0, 1)
    logs.write(decided + undecided, keyed(0))
    (row,) = logs.diff("--until-lso")
    assert (row["offset"], row["field"]) == (1, "log end offset")


def test_a_file_that_cannot_be_read_is_a_difference(logs: Logs) -> None:
    logs.write(keyed(0) + keyed(1), keyed(0) + keyed(1)[:-1])
    (row,) = logs.diff()
    assert row["field"] == "file"
    assert f"{logs.right / ('0' * 20 + '.log')}, position {len(keyed(0))}" in row["text"]


def test_a_difference_after_long_equal_runs_is_found(logs: Logs) -> None:
    many = b"".join(keyed(offset, values=(bytes(900),)) for offset in range(1000))
    large = keyed(1000, values=(bytes(400_000),))
    logs.write(many + large + keyed(1001), many + large + keyed(1001, values=(b"x",)))
    (row,) = logs.diff()
    assert (row["offset"], row["field"]) == (1001, "record value")
    assert logs.summary["batches"] == 1001


def test_a_log_without_checkpoints_starts_with_its_first_segment(logs: Logs) -> None:
    (logs.left / f"{1:020d}.log").write_bytes(keyed(1) + keyed(2))
    (logs.right / f"{0:020d}.log").write_bytes(keyed(0) + keyed(1) + keyed(2))
    assert logs.diff() == []
    assert logs.summary["notes"] == ["t-0: the logs start at 1 and 0; compared from 1"]


def test_progress_comes_to_the_size_of_the_left_log(logs: Logs) -> None:
    same = b"".join(keyed(offset) for offset in range(5))
    logs.write(same + keyed(5) + keyed(6), same + keyed(5, epoch=1))
    passed: list[int] = []
    pairs = pair_folders(logs.left, logs.right)
    compare(pairs, progress=passed.append)
    assert sum(passed) == pairs.size == len(same) + 2 * len(keyed(5))


def test_two_log_folders(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0))
    for name, data in (("u-0", keyed(0)), ("__consumer_offsets-0", keyed(0))):
        (logs.left.parent / name).mkdir()
        (logs.left.parent / name / f"{0:020d}.log").write_bytes(data)
    logs.left, logs.right = logs.left.parent, logs.right.parent
    rows = logs.diff()
    assert [(row["topic"], row["field"]) for row in rows] == [("u", "partition")]
    assert [row["topic"] for row in logs.diff("--internal")] == ["__consumer_offsets", "u"]
    assert logs.diff("--topic", "t") == []
    result = CliRunner().invoke(command, [str(logs.left), str(logs.right), "--topic", "none"], standalone_mode=False)
    assert isinstance(result.exception, UsageError)
    result = CliRunner().invoke(command, [str(logs.left), str(logs.right / "t-0")], standalone_mode=False)
    assert "give two of a kind" in str(result.exception)


def test_a_folder_without_files_is_an_empty_log(logs: Logs) -> None:
    """A broker that is killed when it makes a partition leaves one; the next one begins a log in it."""
    logs.write(keyed(0), keyed(0))
    for top in (logs.left.parent, logs.right.parent):
        for name in ("u-0", "v-0", "w-0"):
            (top / name).mkdir()
    (logs.right.parent / "u-0" / f"{0:020d}.log").touch()
    (logs.right.parent / "v-0" / f"{0:020d}.log").write_bytes(keyed(0))
    left = logs.left
    logs.left, logs.right = left.parent, logs.right.parent
    assert [(row["topic"], row["field"], row["left"]) for row in logs.diff()] == [("v", "log end offset", 0)]
    assert [row["topic"] for row in logs.diff("--until-lso")] == []
    result = CliRunner().invoke(command, [str(left), str(logs.left / "u-0")], standalone_mode=False)
    assert isinstance(result.exception, UsageError), "who names one partition means one that is there"


def test_text(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0, epoch=1))
    result = CliRunner().invoke(command, [str(logs.left), str(logs.right)], standalone_mode=False)
    assert result.stdout.splitlines() == [
        "t-0 offset 0: leader epoch is 0 on the left and 1 on the right",
        "1 difference: 1 partitions, 0 equal batches, 0 bytes",
    ]
