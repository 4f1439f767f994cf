"""One task of a verification, without Spark: each difference has the start of its batch as position."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.logdir.partition import open_partition
from kmirror.records.codecs import Compression
from kmirror.spark.compare import Difference, Range, RangeResult, Records, compare_ranges
from kmirror.spark.folders import find_segments, split
from tests.builders import batch_of
from tests.sim.stage import legacy, plain

LOG = [plain(0, 0, "r0", "r1"), plain(2, 1, "r2"), plain(5, 1, "r5"), plain(6, 1, "r6")]


class Logs:
    """A new folder for each comparison."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._count = 0

    def compare(self, source: list[bytes], destination: list[bytes], *, end: int | None = None) -> RangeResult:
        sides = []
        for batches in (source, destination):
            self._count += 1
            folder = self._top / str(self._count) / "t-0"
            folder.mkdir(parents=True)
            (folder / f"{0:020d}.log").write_bytes(b"".join(batches))
            sides.append(find_segments(str(folder)))
        (found,) = compare_ranges([Range(split(sides[0][0])[0], 0, end, None, tuple(sides[1]))])
        return found


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    return Logs(tmp_path)


def at(*batches: bytes) -> int:
    """Return the position after these batches."""
    return len(b"".join(batches))


def rows_of(found: RangeResult) -> list[tuple[str, int, int]]:
    return [(row.kind, row.offset, row.destination_position) for row in found.differences]


def test_equal_logs(logs: Logs) -> None:
    found = logs.compare(LOG, LOG)
    assert (found.shares.common.batches, found.bytes, found.differences, found.more) == (4, at(*LOG), [], 0)


def test_differences_have_the_position_of_their_batch(logs: Logs) -> None:
    other = [LOG[0], LOG[0], plain(2, 2, "x2"), plain(3, 1, "r3"), LOG[3], plain(7, 1, "r7"), plain(8, 1, "r8")]
    found = logs.compare(LOG, other)
    assert rows_of(found) == [
        ("duplicate", 0, at(*other[:1])),
        ("field", 2, at(*other[:2])),
        ("extra", 3, at(*other[:3])),
        ("missing", 5, at(*other[:4])),
        ("extra", 7, at(*other[:5])),
    ]
    assert [row.last_offset for row in found.differences] == [1, 2, 3, 5, 8]
    shares = found.shares
    assert (shares.common.batches, shares.differing.batches) == (2, 1)
    assert (shares.only_expected.batches, shares.only_found.batches) == (1, 4)
    field = found.differences[1]
    assert (field.expected, field.found) == ("leader epoch 1", "leader epoch 2")
    assert (field.within, field.byte, field.found_bytes) == ("batch", 15, "02")


def test_a_checksum_wrong_on_both_sides_is_reported_with_its_position(logs: Logs) -> None:
    damaged = bytearray(LOG[1])
    damaged[-1] ^= 1
    log = [LOG[0], bytes(damaged), LOG[2]]
    assert rows_of(logs.compare(log, log)) == [("crc", 2, at(LOG[0]))]


def test_a_batch_at_the_end_of_the_range_is_for_another_task(logs: Logs) -> None:
    assert rows_of(logs.compare(LOG, [*LOG[:2], plain(5, 9, "x5")], end=5)) == []


def test_a_message_that_cannot_be_inflated_is_compared_by_its_header(logs: Logs) -> None:
    wrapper = legacy(0, 1, "one", "two", codec=Compression.GZIP)
    damaged = wrapper[:30] + bytes(len(wrapper) - 30)
    (row,) = logs.compare([wrapper, plain(2, 0, "r2")], [damaged, plain(2, 0, "r2")]).differences
    assert isinstance(row, Difference)
    assert (row.kind, row.offset) == ("bytes", 1)


def test_another_message_format_is_reported_first(logs: Logs) -> None:
    (row,) = logs.compare([legacy(0, 1, "r")], [plain(0, 0, "r")]).differences
    assert (row.kind, row.expected, row.found) == ("field", "message format 1", "message format 2")


def test_behind_bytes_that_are_no_batch_nothing_is_compared(logs: Logs) -> None:
    garbage = bytes(80)
    (row,) = logs.compare([LOG[0], garbage], LOG).differences
    assert (row.kind, row.side) == ("unreadable", "source")
    assert (row.source_position, row.destination_position) == (at(LOG[0]), -1)
    for source in (LOG, LOG[:1]):
        (row,) = logs.compare(source, [LOG[0], garbage]).differences
        assert (row.kind, row.side, row.destination_position) == ("unreadable", "destination", at(LOG[0]))
        assert row.offset == 2, "where the source goes on"


def test_the_first_differing_byte_of_two_values_is_reported(logs: Logs) -> None:
    (row,) = logs.compare([LOG[0], plain(2, 1, "record")], [LOG[0], plain(2, 1, "recall")]).differences
    assert (row.kind, row.expected, row.found) == ("field", "record value b'record'", "record value b'recall'")
    assert (row.within, row.byte, row.expected_bytes, row.found_bytes) == ("value", 3, b"ord".hex(), b"all".hex())
    assert "byte 3 of the value: 6f 72 64 on the source, 61 6c 6c on the destination" in str(row)


def test_records_are_compared_over_whole_logs(logs: Logs, tmp_path: Path) -> None:
    folders = []
    for name, batches in (
        ("a", [batch_of(b"r0", b"r1"), batch_of(b"r2", offset=2), batch_of(b"r5", offset=5)]),
        ("b", [batch_of(b"r0", offset=7), batch_of(b"r1", b"r2", offset=8), batch_of(b"x5", offset=10)]),
    ):
        path = tmp_path / name / "t-0"
        path.mkdir(parents=True)
        (path / f"{0:020d}.log").write_bytes(b"".join(batches))
        folders.append(open_partition(path))
    (found,) = compare_ranges([Records(folders[0], folders[1], 3)])
    assert (found.replica, found.shares.common.records, found.shares.differing.records) == (3, 3, 1)
    (row,) = found.differences
    assert (row.kind, row.offset, row.expected) == ("record", 5, "record value b'r5'")
    assert row.found == "record value b'x5' at offset 10"
    assert (row.within, row.byte) == ("value", 0)
