"""Without Spark: rows of the log reader, columns that it does not decode, and splitting of segments."""

from __future__ import annotations

from pathlib import Path

import pytest

from kmirror.errors import UsageError
from kmirror.log.committed import Committed
from kmirror.records import RecordData, build_batch
from kmirror.records.batch import Batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import build_message_set
from kmirror.spark import rows
from kmirror.spark.folders import find_segments, index_position, split
from kmirror.spark.rows import COLUMNS, RECORD_COLUMNS, CorruptSegment, RowQuery, read_split
from kmirror.spark.transactions import find_transactions
from tests.builders import write_segment
from tests.spark.consumed import ROOT, as_consumed, consumed

KRAFT = ROOT / "tests/data/log/kraft-4.3"


def read(path: Path, wanted: RowQuery | None = None, split_bytes: int = 1 << 20) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for segment in find_segments(str(path)):
        for piece in split(segment, split_bytes):
            for batch in read_split(piece, wanted or RowQuery(), Committed()):
                found += batch.to_pylist()
    return found


def partition(folder: Path, *batches: bytes) -> Path:
    """Write a partition t-0 of one segment, and return the segment's path."""
    place = folder / "t-0"
    place.mkdir(parents=True, exist_ok=True)
    return write_segment(place, *batches)


def varied(base: int, count: int, compression: Compression = Compression.NONE) -> bytes:
    data = [RecordData(b"k%d" % n, b"v" * n, [("h", None)] * (n % 3), 1000 + base + n) for n in range(count)]
    return build_batch(data, base_offset=base, partition_leader_epoch=3, compression=compression)


@pytest.mark.parametrize("split_bytes", [1, 700, 1 << 20])
def test_any_piece_size_gives_the_same_rows(split_bytes: int) -> None:
    recorded = consumed()["tests/data/log/kraft-4.3", "read_uncommitted"]
    for name, records in recorded.items():
        found = read(KRAFT / name, split_bytes=split_bytes)
        for row in found:
            row["timestamp"] = round(row["timestamp"].timestamp() * 1000) * 1000  # type: ignore[attr-defined]
        assert as_consumed(found) == {name: records}


def test_committed_markers_removed_by_the_cleaner_leave_nothing_open() -> None:
    committed = find_transactions(find_segments(str(KRAFT / "compacted-fast-0")))
    assert committed.first_undecided_offset is None


def test_header_columns_decode_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    partition(tmp_path, varied(0, 50, Compression.GZIP), varied(50, 7))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a record was decoded")

    monkeypatch.setattr(rows, "read_columns", refuse)
    monkeypatch.setattr(Batch, "payload", refuse)
    found = read(tmp_path, RowQuery(columns=("topic", "leaderEpoch", "batchOffset", "file")))
    assert len(found) == 57
    last = {"topic": "t", "leaderEpoch": 3, "batchOffset": 50, "file": str(tmp_path / "t-0" / f"{0:020}.log")}
    assert found[-1] == last
    with pytest.raises(AssertionError, match="a record was decoded"):
        read(tmp_path, RowQuery(columns=("offset",)))


def test_ranges_may_be_split_inside_batches(tmp_path: Path) -> None:
    partition(tmp_path, varied(0, 20), varied(20, 20))
    found = read(tmp_path, RowQuery(offset_first=15, offset_end=25))
    assert [row["offset"] for row in found] == list(range(15, 25))
    # Without decoded columns as well.
    assert len(read(tmp_path, RowQuery(columns=("topic",), offset_first=15, offset_end=25))) == 10
    found = read(tmp_path, RowQuery(timestamp_first=1030, timestamp_end=1033))
    assert [row["offset"] for row in found] == [30, 31, 32]


def test_a_torn_tail_is_a_fault_unless_the_segment_is_followed(tmp_path: Path) -> None:
    path = partition(tmp_path, varied(0, 3), varied(3, 3)[:40])
    size = len(varied(0, 3))
    with pytest.raises(CorruptSegment, match=rf"{path.name}, position {size}.*: 40 bytes are left"):
        read(tmp_path)
    assert len(read(tmp_path, RowQuery(tolerates_torn_tail=True))) == 3
    (row,) = (
        r for r in read(tmp_path, RowQuery(columns=(*RECORD_COLUMNS, "corrupt"), on_corrupt="row")) if r["corrupt"]
    )
    assert (row["topic"], row["partition"], row["value"]) == ("t", 0, None)


def test_large_segments_are_split_at_entries_of_their_index(tmp_path: Path) -> None:
    batches = [varied(10 * n, 10) for n in range(100)]
    path = partition(tmp_path, *batches)
    starts = [0]
    for data in batches:
        starts.append(starts[-1] + len(data))
    entries = b"".join((10 * n + 9).to_bytes(4, "big") + starts[n].to_bytes(4, "big") for n in range(3, 100, 7))
    (segment,) = find_segments(str(tmp_path))
    walked = [piece.start for piece in split(segment, 5000)]
    path.with_suffix(".index").write_bytes(entries + bytes(80))  # Preallocated.
    pieces = split(segment, 5000)
    indexed = {starts[n] for n in range(3, 100, 7)}
    assert {piece.start for piece in pieces[1:]} <= indexed
    assert set(walked) <= set(starts)
    assert [row["offset"] for row in read(tmp_path, split_bytes=5000)] == list(range(1000))
    assert index_position(segment, 500) <= starts[50]
    path.with_suffix(".index").write_bytes(bytes(range(1, 81)))  # Another log's.
    assert [row["offset"] for row in read(tmp_path, split_bytes=5000)] == list(range(1000))


def test_paths_are_folders_patterns_and_uris(tmp_path: Path) -> None:
    for name in ("one", "two"):
        partition(tmp_path / name, varied(0, 2))
    uri = (tmp_path / "one").as_uri()
    for path, count in ((tmp_path / "*", 2), (tmp_path / "one" / "t-0", 1), (uri, 1), (f"{uri},{tmp_path}/two", 2)):
        assert len(find_segments(str(path))) == count
    for path, message in (
        (tmp_path / "none", "does not exist"),
        (tmp_path / "x*", "the pattern matches nothing"),
        ("s3://bucket/logs", "from a file system that every executor sees"),
    ):
        with pytest.raises(UsageError, match=message):
            find_segments(str(path))


@pytest.mark.parametrize("level", COLUMNS)
def test_each_row_of_each_level_names_its_file(tmp_path: Path, level: str) -> None:
    partition(tmp_path, build_message_set([RecordData(b"k", b"v", (), 5)] * 2, magic=1), varied(2, 3))
    write_segment(tmp_path / "t-0", varied(5, 4), base_offset=5)
    files = [f"{tmp_path}/t-0/{base:020}.log" for base in (0, 5)]
    for columns in (("file",), tuple(COLUMNS[level])):
        found = [row["file"] for row in read(tmp_path, RowQuery(level=level, columns=columns), split_bytes=1)]
        assert found == sorted(found)
        assert sorted(set(map(str, found))) == files, columns
    assert len(read(tmp_path, RowQuery(columns=("file",), offset_first=3, offset_end=6))) == 3


@pytest.mark.parametrize("level", COLUMNS)
def test_a_file_is_named_by_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    """Executors have other working directories, and a stream's checkpoint is used later."""
    path = partition(tmp_path / "logs", varied(0, 1))
    monkeypatch.chdir(tmp_path)
    for given in ("logs", "logs/t-0", f"logs/t-0/{path.name}", "lo*", f"file:{tmp_path}/logs"):
        (row,) = read(Path(given), RowQuery(level=level, columns=("file",)))
        assert row["file"] == str(path), given


def test_a_link_to_a_partition_has_its_own_name(tmp_path: Path) -> None:
    path = partition(tmp_path, varied(0, 1))
    link = tmp_path / "disk" / "renamed-3"
    link.parent.mkdir()
    link.symlink_to(path.parent)
    (row,) = read(link, RowQuery(columns=("topic", "partition", "file")))
    assert row == {"topic": "renamed", "partition": 3, "file": str(link / path.name)}


def test_every_column_is_described() -> None:
    assert all(column.doc and not column.doc.endswith(".") for level in COLUMNS.values() for column in level.values())
