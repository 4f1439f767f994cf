"""Two clusters' folders are compared batch by batch, and a difference has a name and a place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from kmirror.records.batch import iter_batches
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
    assert found.replicas == found.partitions > 10


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
    # From the other side it is the source that is damaged, unless the checksum does not cover the place.
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
    """A mirror takes what is decided: `txn-0` ends with an open transaction."""
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
