"""`kmirror diff`: every kind of difference has a message, and permitted differences are none."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.logdir.compare.pairs import pair_folders
from kmirror.logdir.compare.partitions import compare
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.control import mirror_pid_reset
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from tests.unit.cli.two_logs import LONG, Logs, keyed


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


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
    assert row["text"].startswith(f"{field} is {row['left']} on the left and {row['right']} on the right; byte ")
    assert logs.summary["batches"] == 1


def test_a_byte_that_no_field_has(logs: Logs) -> None:
    data = bytearray(keyed(0))
    data[21] ^= 0x80  # The upper byte of the attributes is unused.
    logs.write(keyed(0), bytes(data))
    (row,) = logs.diff()
    assert (row["field"], row["left"], row["right"]) == ("byte 21 of the batch", "0x00", "0x80")


def test_equal_bytes_are_equal_also_in_a_format_that_does_not_exist(logs: Logs) -> None:
    message = bytearray(build_message_set([RecordData(b"k", b"v", (), 10)], magic=1, base_offset=1))
    message[16] = 0x82
    logs.write(keyed(0) + message, keyed(0) + message)
    assert logs.diff() == []
    assert logs.summary["batches"] == 2


def test_a_batch_that_is_only_longer_is_a_difference(logs: Logs) -> None:
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


def test_logs_may_differ_in_their_segment_boundaries(logs: Logs) -> None:
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
    assert (row["left"], row["right"]) == ((1, 2) if swapped else (2, 1))


@pytest.mark.kip("1279", "failover")
def test_until_lso_ignores_records_that_a_failover_truncates(logs: Logs) -> None:
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


def test_progress_ends_at_the_size_of_the_left_log(logs: Logs) -> None:
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
    assert "has the topic 'none': they have __consumer_offsets, t, u" in logs.refused("--topic", "none")
    logs.right /= "t-0"
    assert "give two of the same kind" in logs.refused()


def test_a_folder_without_files_is_an_empty_log(logs: Logs) -> None:
    """A broker leaves such a folder if it is killed while it makes a partition; the next start begins a log in it."""
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
    logs.left, logs.right = left, logs.left / "u-0"
    assert "u-0: contains no segment files" in logs.refused(), "who names one partition means one that is there"


def test_text(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0, epoch=1))
    assert logs.text() == [
        "t-0 offset 0: leader epoch is 0 on the left and 1 on the right; "
        "byte 15 of the batch: 00 on the left, 01 on the right",
        "t-0: nothing on both sides, 1 batch (1 offset) with other content",
        "1 difference: 1 partition, 0 equal batches, 0 bytes",
    ]
    logs.write(keyed(0), keyed(0))
    assert logs.text() == [f"equal: 1 partition, 1 equal batch, {len(keyed(0))} bytes"]


# -- differing values -------------------------------------------------------------------------


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.ZSTD])
def test_long_values_are_shown_where_they_part(logs: Logs, codec: Compression) -> None:
    left, right = bytes(5_000), bytes(1_204) + b"!" + bytes(3_000)
    logs.write(
        keyed(0, values=(b"same", left), compression=codec), keyed(0, values=(b"same", right), compression=codec)
    )
    (row,) = logs.diff()
    assert (row["offset"], row["field"]) == (1, "record value")
    assert (row["within"], row["byte"]) == ("value", 1_204)
    assert (row["left_bytes"], row["right_bytes"]) == ("00" * 8, "21" + "00" * 7)
    assert row["left"] != row["right"]
    assert "b'\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00!\\x00" in row["right"] and "(4205 bytes)" in row["right"]
    assert "byte 1204 of the value: 00 00 00 00 00 00 00 00 on the left, 21 00" in row["text"]


def test_a_value_that_begins_the_other_ends_where_they_part(logs: Logs) -> None:
    logs.write(keyed(0, values=(b"value",)), keyed(0, values=(b"value and more",)))
    (row,) = logs.diff()
    assert (row["within"], row["byte"], row["left_bytes"], row["right_bytes"]) == ("value", 5, "", b" and mor".hex())
    assert "end of data on the left" in row["text"]


def test_a_null_is_no_empty_value(logs: Logs) -> None:
    logs.write(
        keyed(0, values=(b"",)),
        build_batch([RecordData(b"k", None, (), 10)], timestamp_ms=10, partition_leader_epoch=0),
    )
    (row,) = logs.diff()
    assert (row["field"], row["left"], row["right"], row["within"]) == ("record value", "b''", None, "batch")
    assert "b'' on the left and null on the right" in row["text"]


def test_the_header_that_differs_is_named(logs: Logs) -> None:
    def headed(*headers: tuple[str, bytes | None]) -> bytes:
        return build_batch([RecordData(b"k", b"v", headers, 10)], timestamp_ms=10)

    same = ("trace", b"1")
    logs.write(headed(same, ("trace", b"22")), headed(same, ("trace", b"23")))
    (row,) = logs.diff()
    assert (row["field"], row["left"], row["right"]) == ("record header trace", "b'22'", "b'23'")
    assert (row["within"], row["byte"], row["left_bytes"], row["right_bytes"]) == ("header trace", 1, "32", "33")
    logs.write(headed(same), headed(same, ("more", None)))
    (row,) = logs.diff()
    assert (row["field"], row["left"], row["right"]) == ("record header 1", None, "more")


def test_the_byte_of_a_header_field_is_reported(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0, epoch=0x0102))
    (row,) = logs.diff()
    assert (row["within"], row["byte"]) == ("batch", 14)
    assert (row["left_bytes"], row["right_bytes"]) == ("0000", "0102"), "no more than the field's own"


# -- counts -----------------------------------------------------------------------------------


def test_counts_continue_after_the_first_difference(logs: Logs) -> None:
    both = [keyed(0, values=(b"v", b"w")), keyed(2), keyed(9), keyed(10), keyed(20)]
    left = [both[0], keyed(1 + 1, epoch=0, values=(b"x",)), keyed(3, values=(b"1", b"2")), both[2], both[3], both[4]]
    right = [both[0], both[1], keyed(5), keyed(6, values=(b"1", b"2", b"3")), both[2], both[3], both[4]]
    logs.write(b"".join(left), b"".join(right))
    (row,) = logs.diff()
    assert (row["offset"], row["field"]) == (2, "record value")
    found = logs.partitions["t-0"]
    assert not found["equal"]
    assert found["common"] == {"batches": 4, "offsets": 5, "records": 0}
    assert found["differing"] == {"batches": 1, "offsets": 1, "records": 0}
    assert found["only_left"] == {"batches": 1, "offsets": 2, "records": 0}
    assert found["only_right"] == {"batches": 2, "offsets": 4, "records": 0}
    assert logs.summary["batches"] == 4
    assert logs.text()[1] == (
        "t-0: 4 batches (5 offsets) on both sides, 1 batch (1 offset) with other content, "
        "1 batch (2 offsets) only left, 2 batches (4 offsets) only right"
    )


def test_a_flipped_offset_is_a_single_difference(logs: Logs) -> None:
    parts = [keyed(offset) for offset in range(20)]
    damaged = bytearray(parts[7])
    damaged[3] ^= 1
    logs.write(b"".join(parts), b"".join([*parts[:7], bytes(damaged), *parts[8:]]))
    (row,) = logs.diff()
    assert (row["offset"], row["field"], row["left"], row["byte"]) == (7, "base offset", 7, 3)
    assert logs.partitions["t-0"]["common"]["batches"] == 19
    assert logs.partitions["t-0"]["differing"]["batches"] == 1


def test_a_short_log_is_counted_to_the_end_of_the_long_one(logs: Logs) -> None:
    logs.write(keyed(0) + keyed(1), keyed(0) + keyed(1) + keyed(2, values=(b"v", b"w")) + keyed(4))
    (row,) = logs.diff()
    assert (row["field"], row["left"], row["right"]) == ("log end offset", 2, 5)
    assert logs.partitions["t-0"]["only_right"] == {"batches": 2, "offsets": 3, "records": 0}


def test_wrappers_count_the_offsets_since_the_batch_before(logs: Logs) -> None:
    rows = [RecordData(b"k", b"v", (), 10)] * 3
    wrappers = [
        build_message_set(rows, magic=1, base_offset=offset, compression=Compression.GZIP) for offset in (0, 3, 6)
    ]
    logs.write(b"".join(wrappers), b"".join(wrappers[:2]))
    logs.diff()
    assert logs.partitions["t-0"]["common"] == {"batches": 2, "offsets": 6, "records": 0}
    assert logs.partitions["t-0"]["only_left"] == {"batches": 1, "offsets": 3, "records": 0}


def test_every_partition_has_its_object(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0))
    for top in (logs.left.parent, logs.right.parent):
        (top / "u-3").mkdir()
        (top / "u-3" / f"{0:020d}.log").write_bytes(keyed(0) + keyed(1))
    logs.left, logs.right = logs.left.parent, logs.right.parent
    assert logs.diff() == []
    assert {name: (row["equal"], row["common"]["batches"]) for name, row in logs.partitions.items()} == {
        "t-0": (True, 1), "u-3": (True, 2)
    }  # fmt: skip


# -- nothing compared is never equal ----------------------------------------------------------


def test_folders_of_folders_are_refused_with_a_suggestion(logs: Logs, tmp_path: Path) -> None:
    """`broker-1` could be the empty folder of a partition."""
    logs.write(keyed(0), keyed(0))
    for name in "xy":
        data = tmp_path / name / "broker-1" / "data"
        data.mkdir(parents=True)
        shutil.copytree(logs.left, data / "t-0")
    logs.left, logs.right = tmp_path / "x", tmp_path / "y"
    assert logs.refused() == f"{tmp_path}/x: contains no log to compare; did you mean {tmp_path}/x/broker-1/data?"
    logs.left /= "broker-1"
    logs.right /= "broker-1"
    assert f"did you mean {tmp_path}/x/broker-1/data?" in logs.refused()
    (tmp_path / "x" / "broker-2").mkdir()
    shutil.copytree(logs.left / "data", tmp_path / "x" / "broker-2" / "data")
    logs.left = tmp_path / "x"
    assert f"did you mean {tmp_path}/x/broker-1/data, {tmp_path}/x/broker-2/data?" in logs.refused()
    logs.left, logs.right = tmp_path / "x/broker-1/data", tmp_path / "y/broker-1/data"
    assert logs.diff() == []


def test_a_folder_of_folders_among_partitions_is_left_out_and_named(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0))
    for top in (logs.left.parent, logs.right.parent):
        (top / "broker-1" / "data").mkdir(parents=True)
    logs.left, logs.right = logs.left.parent, logs.right.parent
    assert logs.diff() == []
    assert logs.summary["partitions"] == 1
    said = "broker-1: skipped, because it contains folders and no log"
    assert [note.endswith(said) for note in logs.summary["notes"]] == [True, True]


def test_folders_without_partitions_are_not_equal(logs: Logs) -> None:
    for top in (logs.left.parent, logs.right.parent):
        (top / "meta.properties").write_text("version=1\nbroker.id=1\ncluster.id=c\n")
        (top / "t-0").rmdir()
    logs.left, logs.right = logs.left.parent, logs.right.parent
    assert "contains no log to compare" in logs.refused()


@pytest.mark.parametrize("option", [[], ["--until-lso"], ["--logical"], ["--common"]])
def test_logs_without_a_batch_are_not_equal(logs: Logs, option: list[str]) -> None:
    logs.write(b"", b"")
    assert "nothing was compared: the partition has no batch" in logs.refused(*option)
    undecided = keyed(0, producer_id=5, producer_epoch=0, base_sequence=0, is_transactional=True)
    if option == ["--until-lso"]:
        logs.write(undecided, undecided)
        assert "no batch below the last stable offset on either side" in logs.refused(*option)


def test_internal_topics_are_compared_only_on_request(logs: Logs) -> None:
    for side in ("left", "right"):
        folder = getattr(logs, side).rename(getattr(logs, side).parent / "__consumer_offsets-0")
        (folder / f"{0:020d}.log").write_bytes(keyed(0))
        setattr(logs, side, folder.parent)
    assert "compare them with --internal" in logs.refused()
    assert logs.diff("--internal") == []


def test_nothing_in_common_is_a_difference_or_with_common_a_refusal(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0))
    logs.right = logs.right.rename(logs.right.parent / "u-0")
    logs.left, logs.right = logs.left.parent, logs.right.parent
    assert [row["topic"] for row in logs.diff()] == ["t", "u"]
    assert logs.text()[-1] == "2 differences: nothing was compared"
    assert logs.refused("--common") == "nothing was compared: no partition exists on both sides"


def test_common_ignores_partitions_assigned_to_one_replica_only(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0))
    (logs.left.parent / "u-0").mkdir()
    (logs.left.parent / "u-0" / f"{0:020d}.log").write_bytes(keyed(0))
    logs.left, logs.right = logs.left.parent, logs.right.parent
    assert [row["field"] for row in logs.diff()] == ["partition"]
    assert logs.diff("--common") == []
    assert (logs.summary["partitions"], logs.summary["only_left"], logs.summary["only_right"]) == (1, 1, 0)
    assert logs.text("--common")[-2:] == [
        "note: 1 partition only on the left", f"equal: 1 partition, 1 equal batch, {len(keyed(0))} bytes"
    ]  # fmt: skip


def test_an_unreadable_folder_is_no_difference(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0))
    (logs.left.parent / "replication-offset-checkpoint").write_text("nonsense")
    assert "replication-offset-checkpoint" in logs.refused()


def test_topics_are_a_list_of_names(logs: Logs) -> None:
    logs.write(keyed(0), keyed(0))
    with pytest.raises(UsageError, match="takes a list of names"):
        pair_folders(logs.left.parent, logs.right.parent, topics="t")
