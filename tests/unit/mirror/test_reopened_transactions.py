"""Outcomes of transactions that a truncation reopens: remembered ones, and ones that no longer hold (D29, D42)."""

from __future__ import annotations

import pytest

from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.reopened_transactions import (
    CutMarker,
    CutMarkers,
    StopPlan,
    decided_offset,
    make_stop_plan,
    read_tail,
)
from tests.builders import batch, idempotent, marker
from tests.unit.log.partitions import follow, open_log

pytestmark = pytest.mark.decision("D42")


def mirrored(*batches: bytes) -> PartitionLog:
    log = open_log()
    follow(log, *batches)
    log.update_high_watermark(log.log_end_offset)
    return log


def cut(log: PartitionLog, offset: int, known: CutMarkers) -> CutMarkers:
    """Truncate a log like a leader; return the outcomes that are known afterwards."""
    tail = read_tail(log, offset)
    log.truncate_to(offset)
    return tail.reopened(log, known)


def transaction(*, commit: bool) -> list[bytes]:
    """Return two records of producer 1 at offsets 0 and 1, and their marker at 2."""
    return [idempotent(0, txn=True), idempotent(1, offset=1, txn=True), marker(commit=commit, offset=2)]


@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_that_lost_only_its_marker_ends_as_before(commit: bool) -> None:
    log = mirrored(*transaction(commit=commit))
    assert make_stop_plan(log, {}, 2, 5) == StopPlan(2, 5, (1,) if commit else ())
    known = cut(log, 2, {})
    assert known == {0: CutMarker(1, commit, 2)}
    assert make_stop_plan(log, known, 2, 5) == StopPlan(2, 5, (1,) if commit else ())


def test_half_a_transaction_is_not_committed() -> None:
    log = mirrored(*transaction(commit=True))
    assert make_stop_plan(log, {}, 1, 5) == StopPlan(1, 5, ())
    assert cut(log, 1, {}) == {0: CutMarker(1, False, 1)}


def test_a_second_truncation_removes_the_outcome_only_with_records_of_the_transaction() -> None:
    log = mirrored(*transaction(commit=True))
    known = cut(log, 2, {})
    follow(log, idempotent(0, pid=2, offset=2))
    assert cut(log, 2, known) == known, "what went is of another producer"
    assert cut(log, 1, known) == {}, "a record of the transaction went, and how it ends is not known"


@pytest.mark.decision("D29")
def test_a_stop_that_removes_a_reopened_transaction_does_not_end_the_one_before_it() -> None:
    """Producer 1 aborts the record at 1, then commits the one at 3; producer 2 is open from 2 on."""
    first = [idempotent(0, txn=True, offset=1), idempotent(0, pid=2, txn=True, offset=2)]
    log = mirrored(batch(), *first, marker(commit=False, offset=3), idempotent(1, offset=4, txn=True))
    follow(log, marker(commit=True, offset=5))
    log.update_high_watermark(log.log_end_offset)
    known = cut(log, 5, {})
    assert known == {4: CutMarker(1, True, 5)} and decided_offset(log, known) == 2
    assert make_stop_plan(log, known, 2, 7) == StopPlan(2, 7, ())


@pytest.mark.decision("D29")
def test_a_stop_that_removes_a_part_of_a_reopened_transaction_does_not_commit_the_rest() -> None:
    """Producer 1 commits the records at 0 and 2; producer 2 is open from 1 on."""
    log = mirrored(
        idempotent(0, txn=True), idempotent(0, pid=2, offset=1, txn=True), idempotent(1, offset=2, txn=True),
        marker(commit=True, offset=3),
    )  # fmt: skip
    known = cut(log, 3, {})
    assert known == {0: CutMarker(1, True, 3)} and decided_offset(log, known) == 1
    assert make_stop_plan(log, known, 1, 7) == StopPlan(1, 7, ())
    assert make_stop_plan(log, known, 3, 7) == StopPlan(3, 7, (1,))
