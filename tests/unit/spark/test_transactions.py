"""The format `kafka-log` and `kmirror cat` agree on committed records."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.producer_entry import ProducerEntry
from kmirror.log.state_files import encode_snapshot
from kmirror.logdir.consume import ConsumeQuery, consume, read_transactions
from kmirror.logdir.partition import open_partition
from kmirror.records import RecordData, build_batch
from kmirror.spark import rows
from kmirror.spark.folders import find_segments, split
from kmirror.spark.rows import read_split
from kmirror.spark.transactions import find_transactions
from tests.builders import batch, idempotent, marker, reset, write_segment


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "t-0"
    made.mkdir()
    return made


def write_with_snapshot(folder: Path, base: int, *batches: bytes, open_at_start: dict[int, int] | None = None) -> None:
    write_segment(folder, *batches, base_offset=base)
    if open_at_start is not None:
        entries = [ProducerEntry(pid, 0, -1, 1, first) for pid, first in open_at_start.items()]
        (folder / f"{base:020}.snapshot").write_bytes(encode_snapshot(entries))


def data(offset: int, pid: int = 1) -> bytes:
    return idempotent(0, pid=pid, txn=True, offset=offset)


def by_cat(folder: Path) -> list[int]:
    return [record.offset for record in consume(open_partition(folder), ConsumeQuery(read_committed=True))]


def by_spark(folder: Path) -> list[int]:
    segments = find_segments(str(folder))
    committed = find_transactions(segments)
    found: list[int] = []
    for segment in segments:
        part = committed.between(segment.base_offset, segment.end_offset)
        for piece in split(segment, 100):
            for table in read_split(piece, rows.RowQuery(columns=("offset",)), part):
                found += table.column("offset").to_pylist()
    return found


@pytest.mark.decision("D15")
def test_a_producer_reset_ends_the_open_transaction_for_both(folder: Path) -> None:
    write_with_snapshot(folder, 0, data(0), data(1, 2), reset(offset=2), batch(offset=3), data(4))
    assert by_cat(folder) == by_spark(folder) == [0, 1, 3]
    assert find_transactions(find_segments(str(folder))).first_undecided_offset == 4
    assert read_transactions(open_partition(folder), end=None).last_stable_offset == 4


def test_a_marker_removed_by_the_cleaner_leaves_nothing_open_for_both(folder: Path) -> None:
    write_with_snapshot(folder, 0, data(0))
    write_with_snapshot(folder, 10, data(10), marker(offset=11, commit=False), batch(offset=12), open_at_start={1: -1})
    assert by_cat(folder) == by_spark(folder) == [0, 12]
    (folder / f"{10:020}.snapshot").unlink()
    (folder.parent / "cleaner-offset-checkpoint").write_text("0\n1\nt 0 10\n")
    write_with_snapshot(folder, 10, batch(offset=12))
    assert by_cat(folder) == by_spark(folder) == [0, 12]


def test_a_log_may_begin_inside_a_transaction_without_remaining_records(folder: Path) -> None:
    write_with_snapshot(folder, 20, batch(offset=20), open_at_start={1: 5})
    assert by_cat(folder) == by_spark(folder) == []
    write_with_snapshot(folder, 20, batch(offset=20), marker(offset=21, commit=True), open_at_start={1: 5})
    assert by_cat(folder) == by_spark(folder) == [20]


def test_damaged_hints_are_passed_over_by_both(folder: Path) -> None:
    write_with_snapshot(folder, 0, data(0), marker(offset=1, commit=True), batch(offset=2))
    (folder / f"{0:020}.snapshot").write_bytes(b"of a log that is no more")
    (folder.parent / "cleaner-offset-checkpoint").write_text("damaged")
    assert by_cat(folder) == by_spark(folder) == [0, 2]


def test_a_tolerant_reader_continues_after_a_broken_control_record(folder: Path) -> None:
    broken = build_batch([RecordData(b"\x00")], base_offset=1, is_control=True)
    write_with_snapshot(folder, 0, data(0), broken, marker(offset=2, commit=False))
    segments = find_segments(str(folder))
    with pytest.raises(CorruptBatch, match=r"0\.log: a control key has 4 bytes"):
        find_transactions(segments)
    assert find_transactions(segments, tolerant=True).aborted == {1: [(0, 2)]}
