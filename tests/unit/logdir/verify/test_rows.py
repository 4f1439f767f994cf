"""Index rows in `verify`: every wrong row is reported, no correct one is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from struct import Struct

import pytest

from kmirror.logdir.faults import FileFault, Tally
from kmirror.logdir.verify.partition import open_job, verify
from kmirror.records import RecordData, build_batch
from tests.builders import batch

OFFSET_ROW, TIME_ROW = Struct(">ii"), Struct(">qi")
BASE = 40
TIMESTAMPS = [1000, 1010, 1010, 1020, 1015, 1030]
Rows = list[tuple[int, int]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A partition of two segments; the first has a row for every batch, and a time row for every greater timestamp."""
    folder = tmp_path / "orders-0"
    folder.mkdir()
    data, positions = b"", []
    for number, timestamp in enumerate(TIMESTAMPS):
        positions.append(len(data))
        data += batch(offset=BASE + number, timestamp=timestamp)
    (folder / f"{BASE:020d}.log").write_bytes(data)
    (folder / f"{BASE + len(TIMESTAMPS):020d}.log").write_bytes(batch(offset=BASE + len(TIMESTAMPS), timestamp=2000))
    write_rows(folder, ".index", OFFSET_ROW, list(enumerate(positions)))
    write_rows(folder, ".timeindex", TIME_ROW, [(1000, 0), (1010, 1), (1020, 3), (1030, 5)])
    return folder


def write_rows(folder: Path, suffix: str, layout: Struct, rows: Rows) -> None:
    (folder / f"{BASE:020d}{suffix}").write_bytes(b"".join(layout.pack(*row) for row in rows))


def faults(folder: Path) -> list[FileFault]:
    found: list[FileFault] = []
    tally = Tally(found.append)
    verify(open_job(folder, tally), tally)
    return found


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_every_bit_of_a_row_counts(folder: Path, suffix: str) -> None:
    assert not faults(folder)
    path, row = folder / f"{BASE:020d}{suffix}", 8 if suffix == ".index" else 12
    true = path.read_bytes()
    for bit in range(8 * len(true)):
        wrong = bytearray(true)
        wrong[bit // 8] ^= 1 << bit % 8
        path.write_bytes(wrong)
        assert bit // 8 // row * row in {fault.position for fault in faults(folder) if fault.path == path}, bit


def test_a_wrong_last_timestamp_is_reported_once(folder: Path) -> None:
    write_rows(folder, ".timeindex", TIME_ROW, [(1000, 0), (1010, 1), (1020, 3), (1031, 5)])
    assert [fault.position for fault in faults(folder)] == [36]


# Change of the rows, the wrong rows after it, and the message about the first.
TIMES: list[tuple[str, Callable[[Rows], None], set[int], str]] = [
    ("a row twice", lambda rows: rows.insert(1, rows[0]), {1}, "expected more than 1000 at 40"),
    ("a timestamp twice", lambda rows: rows.insert(2, (1010, 2)), {2}, "expected more than 1010 at 41"),
    ("not the greatest", lambda rows: rows.insert(3, (1015, 4)), {3}, "expected more than 1020 at 43"),
    ("negative, and else true", lambda rows: rows.__setitem__(0, (1000, -1)), {0}, "at offset 40 + -1"),
    ("a batch too late", lambda rows: rows.__setitem__(1, (1010, 3)), {1}, "has the timestamp 1010, but it has 1020"),
    ("too late a timestamp", lambda rows: rows.__setitem__(3, (1031, 5)), {3}, "1031, but it has 1030"),
    ("beyond the end", lambda rows: rows.__setitem__(3, (1030, 6)), {3}, "points to offset 46, but the segment ends"),
    ("the last one left out", lambda rows: rows.__delitem__(3), {2}, "the last row has the timestamp 1020"),
]


@pytest.mark.parametrize(("change", "wrong", "said"), [row[1:] for row in TIMES], ids=[row[0] for row in TIMES])
def test_time_rows(folder: Path, change: Callable[[Rows], None], wrong: set[int], said: str) -> None:
    rows: Rows = [(1000, 0), (1010, 1), (1020, 3), (1030, 5)]
    change(rows)
    write_rows(folder, ".timeindex", TIME_ROW, rows)
    found = faults(folder)
    assert {fault.position for fault in found} == {12 * row for row in wrong}, found
    assert said in found[0].reason


def test_an_invalid_offset_row_does_not_invalidate_later_rows(folder: Path) -> None:
    path = folder / f"{BASE:020d}.index"
    rows = list(OFFSET_ROW.iter_unpack(path.read_bytes()))
    rows[2] = (-3, rows[2][1])
    write_rows(folder, ".index", OFFSET_ROW, rows)
    assert [(fault.position, fault.reason) for fault in faults(folder)] == [
        (16, f"the row is offset 40 + -3 at position {rows[2][1]}")
    ]


def test_one_row_for_all_batches_of_an_append_is_true(folder: Path) -> None:
    """Brokers before 4.0 wrote them: the position of the first batch, the offset of the last."""
    rows = list(OFFSET_ROW.iter_unpack((folder / f"{BASE:020d}.index").read_bytes()))
    write_rows(folder, ".index", OFFSET_ROW, [(2, rows[0][1]), (3, rows[3][1]), (5, rows[4][1])])
    assert not faults(folder)
    write_rows(folder, ".index", OFFSET_ROW, [(3, rows[0][1]), (4, rows[3][1])])
    assert [fault.position for fault in faults(folder)] == [0], "offset 43 is in a batch of the second row"


@pytest.mark.parametrize("into", [0, 1, 2])
def test_a_time_row_may_point_into_a_batch(tmp_path: Path, into: int) -> None:
    """Older brokers wrote the offset of the record with the timestamp, later ones that of the batch's last record."""
    (folder := tmp_path / "orders-0").mkdir()
    stamps = [[5, 9, 7], [9, 8, 9], [20, 10, 11]]
    log = b"".join(
        build_batch([RecordData(None, b"v", (), stamp) for stamp in found], base_offset=BASE + 3 * number)
        for number, found in enumerate(stamps)
    )
    (folder / f"{BASE:020d}.log").write_bytes(log)
    (folder / f"{BASE + 9:020d}.log").write_bytes(batch(offset=BASE + 9, timestamp=30))
    for first in (into, 3 + into):  # According to the row, either of the batches with that timestamp has it first.
        write_rows(folder, ".timeindex", TIME_ROW, [(9, first), (20, 6 + into)])
        assert not faults(folder)
    for rows in ([(9, 6 + into), (20, 6 + into)], [(9, into), (9, 3 + into), (20, 8)], [(9, into), (20, 3 + into)]):
        write_rows(folder, ".timeindex", TIME_ROW, rows)
        assert len(faults(folder)) == 1, rows
