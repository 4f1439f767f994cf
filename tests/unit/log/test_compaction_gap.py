"""Differences of two logs that compaction explains, and differences that it does not (D46)."""

from __future__ import annotations

import pytest

from kmirror.log.compaction_gap import gap
from kmirror.records.build import build_batch
from kmirror.records.control import end_txn_marker
from kmirror.records.legacy import iter_any_batches
from kmirror.records.record import RecordData

pytestmark = pytest.mark.decision("D46")
PRODUCER = 7


def record(offset: int, key: bytes | None, value: bytes | None, *, transactional: bool = False) -> bytes:
    rows = [RecordData(key=key, value=value)]
    if not transactional:
        return build_batch(rows, base_offset=offset)
    return build_batch(
        rows, base_offset=offset, producer_id=PRODUCER, producer_epoch=0, base_sequence=0, is_transactional=True
    )


OLD, NEW, OTHER = record(0, b"k", b"old"), record(1, b"k", b"new"), record(2, b"x", b"other")


def offset_of_gap(expected: list[bytes], found: list[bytes]) -> int | None:
    one, other = (iter_any_batches(b"".join(side)) for side in (expected, found))
    parted = gap(one, other)
    return None if parted is None else parted.offset


@pytest.mark.parametrize(
    ("expected", "found", "offset"),
    [
        ([OLD, NEW, OTHER], [OLD, NEW, OTHER], None),
        ([OLD, NEW, OTHER], [NEW, OTHER], None),
        ([NEW, OTHER], [OLD, NEW, OTHER], None),
        ([OLD], [NEW], 1),
        ([OLD, NEW, OTHER], [OLD, OTHER], 1),
        ([OLD, NEW, OTHER], [OLD, NEW], 2),
        ([OLD, OTHER], [OLD, NEW, OTHER], 1),
        ([OLD, NEW], [OLD, record(1, b"k", b"else")], 1),
        ([OLD, NEW], [OLD, record(1, b"y", b"new")], 1),
        ([OLD, record(1, b"k", None), OTHER], [OTHER], None),
        ([record(0, None, b"without a key"), OTHER], [OTHER], None),
    ],
)
def test_a_superseded_record_may_be_on_one_side_only(
    expected: list[bytes], found: list[bytes], offset: int | None
) -> None:
    assert offset_of_gap(expected, found) == offset


def marker(offset: int, *, commit: bool) -> bytes:
    return end_txn_marker(
        base_offset=offset,
        leader_epoch=0,
        timestamp_ms=0,
        producer_id=PRODUCER,
        producer_epoch=0,
        commit=commit,
        coordinator_epoch=0,
    )


@pytest.mark.parametrize(("commit", "offset"), [(False, None), (True, 0)])
def test_an_aborted_record_may_be_on_one_side_only(commit: bool, offset: int | None) -> None:
    written, end = record(0, b"k", b"in a transaction", transactional=True), marker(1, commit=commit)
    assert offset_of_gap([written, end, OTHER], [end, OTHER]) == offset


@pytest.mark.parametrize(("commit", "offset"), [(False, 0), (True, None)])
def test_an_aborted_record_supersedes_nothing(commit: bool, offset: int | None) -> None:
    later, end = record(1, b"k", b"later", transactional=True), marker(2, commit=commit)
    assert offset_of_gap([OLD, later, end], [later, end]) == offset
