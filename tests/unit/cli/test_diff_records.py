"""`kmirror diff --logical`: the same records in other batches, and at other offsets, are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.record import RecordData
from tests.builders import marker
from tests.unit.cli.two_logs import LONG, Logs, keyed


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def stamped(offset: int, *values: bytes, **fields: Any) -> bytes:
    """Return a batch in which the timestamp of each record is the length of its value."""
    rows = [RecordData(b"k", value, (("h", b"1"),), len(value)) for value in values]
    return build_batch(rows, base_offset=offset, timestamp_ms=0, **fields)


VALUES = [b"v" * (1 + number % 7) + b"%d" % number for number in range(50)]


def test_records_in_other_batches_and_at_other_offsets_are_the_same(logs: Logs) -> None:
    left = stamped(0, *VALUES[:10], producer_id=3, producer_epoch=0, base_sequence=0)
    left += marker(commit=True, pid=3, offset=10)
    left += stamped(11, *VALUES[10:], compression=Compression.ZSTD)
    right = b"".join(stamped(100 + number, value) for number, value in enumerate(VALUES))
    logs.write(left, b"")
    (logs.right / f"{0:020d}.log").unlink()
    (logs.right / f"{100:020d}.log").write_bytes(right)
    assert logs.diff() != []
    assert logs.diff("--logical") == []
    assert logs.partitions["t-0"]["common"] == {"batches": 0, "offsets": 0, "records": 50}
    assert logs.summary["records"] == 50
    assert logs.text("--logical")[-1] == (
        "equal: 1 partition, 0 equal batches, 50 equal records in other batches, 0 bytes"
    )


@pytest.mark.parametrize("field", ["key", "value", "timestamp", "header"])
def test_each_part_of_a_record_counts(logs: Logs, field: str) -> None:
    row = {"key": b"k", "value": b"v", "timestamp": 10, "header": b"1"}
    other = row | {field: 11 if field == "timestamp" else b"other"}

    def built(values: dict[str, Any], offset: int, codec: Compression) -> bytes:
        data = RecordData(values["key"], values["value"], (("h", values["header"]),), values["timestamp"])
        return build_batch([RecordData(None, b"same", (), 5), data], base_offset=offset, compression=codec)

    logs.write(built(row, 0, Compression.NONE), built(other, 0, Compression.GZIP))
    (found,) = logs.diff("--logical")
    assert found["field"] == f"record {field}" + (" h" if field == "header" else "")
    assert (found["offset"], found["right_offset"]) == (1, 1)
    logs.write(built(row, 0, Compression.NONE), built(row, 7, Compression.GZIP))
    assert logs.diff("--logical") == []


def test_a_lost_record_is_one_difference_with_both_offsets(logs: Logs) -> None:
    left = b"".join(stamped(number, value) for number, value in enumerate(VALUES))
    kept = [*VALUES[:7], *VALUES[8:30], b"once", *VALUES[30:40], b"other", *VALUES[41:]]
    logs.write(left, stamped(5, *kept))
    (row,) = logs.diff("--logical")
    assert (row["offset"], row["right_offset"], row["field"]) == (7, 12, "record")
    assert row["text"] == "only the left log has the record at offset 7"
    found = logs.partitions["t-0"]
    assert found["common"]["records"] == 48
    assert (found["differing"]["records"], found["only_left"]["records"], found["only_right"]["records"]) == (1, 1, 1)
    assert logs.text("--logical")[0].startswith("t-0 offset 7 (right: 12): only the left log has the record")


@pytest.mark.parametrize("turned", [False, True])
def test_a_copy_that_ends_earlier(logs: Logs, turned: bool) -> None:
    sides = [stamped(0, *VALUES), stamped(0, *VALUES[:20])]
    logs.write(*(reversed(sides) if turned else sides))
    (row,) = logs.diff("--logical")
    assert (row["offset"], row["field"]) == (20, "record")
    assert row["text"].endswith(" and the 29 after it")
    assert logs.partitions["t-0"]["only_right" if turned else "only_left"]["records"] == 30


def test_a_copy_of_many_records_that_shares_none(logs: Logs) -> None:
    """Up to a thousand records are read ahead, and no more are kept."""
    left = stamped(0, *(b"%d" % number for number in range(2_500)))
    logs.write(left, stamped(0, *(b"x%d" % number for number in range(2_600))))
    (row,) = logs.diff("--logical")
    assert row["field"] == "record timestamp"
    found = logs.partitions["t-0"]
    assert (found["differing"]["records"], found["only_right"]["records"]) == (2_500, 100)


def test_equal_batches_before_the_first_that_differs_are_not_read(logs: Logs) -> None:
    damaged = bytearray(keyed(0, values=(LONG,), compression=Compression.GZIP))
    damaged[-1] ^= 1  # It cannot be decompressed, and need not be.
    logs.write(bytes(damaged) + keyed(1, epoch=1), bytes(damaged) + keyed(1, epoch=2))
    assert logs.diff("--logical") == []
    assert logs.partitions["t-0"]["common"] == {"batches": 1, "offsets": 1, "records": 1}


def test_logs_that_start_elsewhere_are_compared_from_where_both_have_records(logs: Logs) -> None:
    logs.write(keyed(0, values=(b"left",)) + keyed(1) + keyed(2, epoch=1), keyed(0) + keyed(1) + keyed(2, epoch=2))
    (logs.right.parent / "log-start-offset-checkpoint").write_text("0\n1\nt 0 1\n")
    assert logs.diff("--logical") == []
    assert logs.partitions["t-0"]["common"] == {"batches": 1, "offsets": 1, "records": 1}
    assert logs.summary["notes"] == ["t-0: the logs start at 0 and 1; compared from 1"]


def test_records_below_the_log_start_are_not_part_of_the_log(logs: Logs) -> None:
    """Although their batch is part of it, and its bytes equal those of the other side."""
    logs.write(keyed(0, values=(b"a", b"b"), epoch=1), keyed(0, values=(b"a", b"b"), epoch=2))
    (logs.left.parent / "log-start-offset-checkpoint").write_text("0\n1\nt 0 1\n")
    (row,) = logs.diff("--logical")
    assert (row["field"], row["right"]) == ("record", 0)
    (logs.right.parent / "log-start-offset-checkpoint").write_text("0\n1\nt 0 1\n")
    assert logs.diff("--logical") == []
    assert logs.summary["records"] == 1


def test_undecided_records_are_left_out_on_either_side(logs: Logs) -> None:
    undecided = {"producer_id": 5, "producer_epoch": 0, "base_sequence": 0, "is_transactional": True}
    logs.write(stamped(0, b"a") + stamped(1, b"b", **undecided), stamped(7, b"a") + stamped(8, b"c", **undecided))
    assert len(logs.diff("--logical")) == 1
    assert logs.diff("--logical", "--until-lso") == []
    assert logs.summary["records"] == 1


def test_records_that_cannot_be_read_are_a_difference(logs: Logs) -> None:
    damaged = bytearray(keyed(0, values=(LONG,), compression=Compression.GZIP))
    damaged[-1] ^= 1
    logs.write(bytes(damaged), keyed(0, values=(LONG,)))
    (row,) = logs.diff("--logical")
    assert row["field"] == "file"
    assert str(logs.left) in row["text"]
