"""How transactions ended that a cut reopens: which outcomes are remembered, and which no longer hold (D29, D42)."""

from __future__ import annotations

import pytest

from kmirror.log.partition_log import PartitionLog
from kmirror.mirror.reopened_transactions import CutMarker, CutMarkers, StopPlan, plan_of, tail_of
from tests.builders import idempotent, marker
from tests.unit.log.partitions import follow, open_log

pytestmark = pytest.mark.decision("D42")


def mirrored(*batches: bytes) -> PartitionLog:
    log = open_log()
    follow(log, *batches)
    log.update_high_watermark(log.log_end_offset)
    return log


def cut(log: PartitionLog, offset: int, known: CutMarkers) -> CutMarkers:
    """Cut a log as a leader does; return the outcomes that are known afterwards."""
    tail = tail_of(log, offset)
    log.truncate_to(offset)
    return tail.reopened(log, known)


def transaction(*, commit: bool) -> list[bytes]:
    """Return two records of producer 1 at offsets 0 and 1, and their marker at 2."""
    return [idempotent(0, txn=True), idempotent(1, offset=1, txn=True), marker(commit=commit, offset=2)]


@pytest.mark.parametrize("commit", [True, False])
def test_a_transaction_that_lost_its_marker_alone_ends_as_it_did(commit: bool) -> None:
    log = mirrored(*transaction(commit=commit))
    assert plan_of(log, {}, 2, 5) == StopPlan(2, 5, (1,) if commit else ())
    known = cut(log, 2, {})
    assert known == {0: CutMarker(1, commit, 2)}
    assert plan_of(log, known, 2, 5) == StopPlan(2, 5, (1,) if commit else ())


def test_half_a_transaction_is_not_committed() -> None:
    log = mirrored(*transaction(commit=True))
    assert plan_of(log, {}, 1, 5) == StopPlan(1, 5, ())
    assert cut(log, 1, {}) == {0: CutMarker(1, False, 1)}


def test_a_second_cut_forgets_the_outcome_only_if_it_takes_records_of_the_transaction() -> None:
    log = mirrored(*transaction(commit=True))
    known = cut(log, 2, {})
    follow(log, idempotent(0, pid=2, offset=2))
    assert cut(log, 2, known) == known, "what went is of another producer"
    assert cut(log, 1, known) == {}, "a record of the transaction went, and how it ends is not known"
