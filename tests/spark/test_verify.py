"""Two clusters' folders are compared batch by batch, and a difference has a name and a place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from kmirror.errors import UsageError
from kmirror.records.batch import iter_batches
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spark.verification import verify
from tests.spark.consumed import ROOT

SAMPLE = ROOT / "kmirror/logdir/sample"
SEGMENT = "codecs-2/00000000000000000000.log"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(SAMPLE, folder)
    return folder


def test_equal_folders_are_equal(spark: Any, copy: Path) -> None:
    found = verify(spark, str(SAMPLE), str(copy))
    assert found.is_equal
    assert found.differences.count() == 0
    assert len(found.replicas) == found.partitions > 10


@pytest.mark.parametrize(("at", "where"), [(5, "base offset"), (9, "batch length"), (15, "epoch"), (300, "records")])
def test_one_flipped_bit_is_named(spark: Any, copy: Path, at: int, where: str) -> None:
    path = copy / SEGMENT
    data = bytearray(path.read_bytes())
    position = list(iter_batches(bytes(data)))[3].position
    data[position + at] ^= 4
    path.write_bytes(data)
    found = verify(spark, str(SAMPLE), str(copy))
    (row,) = found.differences.collect()
    assert (row.kind, row.side, row.destination_position) == ("bit", "destination", position)
    assert f"file position {position + at}" in row.expected
    assert "bit 2 flipped" in row.found
    assert where in row.found
    # From the other side the source is the damaged one, unless the place is not under the checksum.
    turned = verify(spark, str(copy), str(SAMPLE), topics=["codecs"]).rows
    assert position in [row.source_position for row in turned if row.kind in ("bit", "unreadable")]


def test_gaps_duplicates_and_surplus_are_named(spark: Any, copy: Path) -> None:
    path = copy / SEGMENT
    data = path.read_bytes()
    batches = [bytes(batch.view) for batch in iter_batches(data)]

    def kinds() -> list[tuple[str, str]]:
        return [(row.kind, row.side) for row in verify(spark, str(SAMPLE), str(copy), topics=["codecs"]).rows]

    path.write_bytes(b"".join(batches[:4] + batches[6:]))
    assert kinds() == [("missing", "destination")]
    path.write_bytes(b"".join(batches[:4] + batches[3:]))
    assert kinds() == [("duplicate", "destination")]
    path.write_bytes(b"".join(batches[:-2]))
    assert kinds() == [("missing", "destination")]
    shutil.rmtree(copy / "codecs-2")
    assert kinds() == [("missing", "destination")]


def test_undecided_records_may_be_missing(spark: Any, tmp_path: Path) -> None:
    """A mirror copies decided records: `txn-0` ends with an open transaction."""
    source = ROOT / "tests/data/log/kraft-4.3"
    folder = tmp_path / "txn-0"
    shutil.copytree(source / "txn-0", folder)
    last = max(folder.glob("*.log"))
    batches = list(iter_batches(last.read_bytes()))
    assert batches[-1].is_transactional
    last.write_bytes(b"".join(bytes(batch.view) for batch in batches[:-1]))
    assert verify(spark, str(source), str(tmp_path), topics=["txn"]).rows[0].topic == "txn"
    only = verify(spark, str(source / "txn-0"), str(tmp_path))
    assert only.is_equal, only.summary()


def test_an_epoch_that_falls_is_named_though_both_sides_have_it(spark: Any, copy: Path, tmp_path: Path) -> None:
    path = copy / SEGMENT
    data = bytearray(path.read_bytes())
    second = list(iter_batches(bytes(data)))[1]
    data[second.position + 12 : second.position + 16] = (99).to_bytes(4, "big")  # Not under the checksum.
    path.write_bytes(data)
    shutil.copytree(copy, tmp_path / "other")
    found = verify(spark, str(copy), str(tmp_path / "other"), topics=["codecs"])
    assert [(row.kind, row.offset, row.expected) for row in found.rows] == [
        ("epoch", second.next_offset, "at least 99")
    ]


def test_how_much_is_where_is_counted_for_each_replica(spark: Any, copy: Path) -> None:
    path = copy / SEGMENT
    batches = [bytes(batch.view) for batch in iter_batches(path.read_bytes())]
    path.write_bytes(b"".join(batches[:4] + batches[6:]))
    found = verify(spark, str(SAMPLE), str(copy), topics=["codecs"])
    (replica,) = (replica for replica in found.replicas if not replica.is_equal)
    shares = replica.shares
    assert str(replica.tp) == "codecs-2" and replica.folder == str(path.parent)
    assert (shares.common.batches, shares.only_expected.batches, shares.only_found.batches) == (len(batches) - 2, 2, 0)
    assert replica.bytes == sum(map(len, batches)) - sum(map(len, batches[4:6]))


def test_common_ignores_partitions_of_one_side_only(spark: Any, copy: Path) -> None:
    shutil.rmtree(copy / "codecs-2")
    found = verify(spark, str(SAMPLE), str(copy), topics=["codecs"], common=True)
    assert found.is_equal and [str(tp) for tp in found.only_source] == ["codecs-2"]
    for left in copy.glob("codecs-*"):
        shutil.rmtree(left)
    with pytest.raises(UsageError, match="nothing was compared: no partition exists on both sides"):
        verify(spark, str(SAMPLE), str(copy), topics=["codecs"], common=True)


def test_records_are_the_same_in_other_batches(spark: Any, tmp_path: Path) -> None:
    """A copy by MirrorMaker 2: one record in each batch, offsets from 0 on without a gap."""
    source, other = SAMPLE / "codecs-2", tmp_path / "codecs-2"
    other.mkdir()
    data = (source / "00000000000000000000.log").read_bytes()
    copies = [
        build_batch([RecordData(*row)], base_offset=number, timestamp_ms=0)
        for number, row in enumerate(
            (record.key, record.value, record.headers, record.timestamp)
            for batch in iter_batches(data)
            if not batch.is_control
            for record in batch.records()
        )
    ]
    (other / "00000000000000000000.log").write_bytes(b"".join(copies))
    assert not verify(spark, str(source), str(other)).is_equal
    found = verify(spark, str(source), str(other), logical=True)
    assert found.is_equal, found.rows
    assert found.common.records == len(copies)
    (other / "00000000000000000000.log").write_bytes(b"".join(copies[:10] + copies[11:]))
    found = verify(spark, str(source), str(other), logical=True)
    (row,) = found.differences.collect()
    assert (row.kind, row.expected) == ("record", f"record {row.offset}")
    assert found.replicas[0].shares.only_expected.records == 1


def test_nothing_compared_is_never_equal(spark: Any, tmp_path: Path) -> None:
    for name in "xy":
        folder = tmp_path / name / "broker-1" / "data" / "t-0"
        folder.mkdir(parents=True)
        (folder / f"{0:020d}.log").touch()
    with pytest.raises(UsageError, match=r"did you mean .*/x/broker-1/data"):
        verify(spark, str(tmp_path / "x"), str(tmp_path / "y"))
    with pytest.raises(UsageError, match="nothing was compared"):
        verify(spark, str(tmp_path / "x/broker-1/data"), str(tmp_path / "y/broker-1/data"))
    (tmp_path / "x/broker-1/data/t-0" / f"{0:020d}.log").unlink()
    with pytest.raises(UsageError, match="no segment of a Kafka log there"):
        verify(spark, str(tmp_path / "x/broker-1/data"), str(tmp_path / "y/broker-1/data"))


def test_the_first_difference_of_two_values_is_reported(spark: Any, copy: Path) -> None:
    path = copy / SEGMENT
    batches = [bytes(batch.view) for batch in iter_batches(path.read_bytes())]
    number, batch = next(
        (number, batch)
        for number, data in enumerate(batches)
        for batch in iter_batches(data)
        if not batch.is_control and any(record.value for record in batch.records())
    )
    rows = [(record.key, record.value, record.headers, record.timestamp) for record in batch.records()]
    at = next(at for at, row in enumerate(rows) if row[1])
    rows[at] = (rows[at][0], rows[at][1] + b"!", *rows[at][2:])
    batches[number] = build_batch(
        [RecordData(*row) for row in rows], base_offset=batch.base_offset, timestamp_ms=0,
        partition_leader_epoch=batch.partition_leader_epoch, producer_id=batch.producer_id,
        producer_epoch=batch.producer_epoch, base_sequence=batch.base_sequence,
        is_transactional=batch.is_transactional, compression=batch.compression, timestamp_type=batch.timestamp_type,
    )  # fmt: skip
    path.write_bytes(b"".join(batches))
    (row,) = verify(spark, str(SAMPLE), str(copy), topics=["codecs"]).differences.collect()
    assert (row.kind, row.expected.split("'")[0]) == ("field", "record value b")
    assert (row.within, row.expected_bytes, row.found_bytes) == ("value", "", "21")
