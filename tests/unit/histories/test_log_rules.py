"""The rules of a log accept correct state, and report wrong state."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kmirror.histories.monitors.log_rules import LogChecker
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from tests.builders import NOW_MS, batch, idempotent, marker, reset
from tests.unit.log.partitions import follow, lead, open_log

EXPIRATION_MS = 1_000


def broken_rules(judge: LogChecker, *, now_ms: int = NOW_MS, begins: bool = False) -> list[str]:
    """Read on, and return the names of the broken rules."""
    judge.model.read_new_batches()
    return [rule for rule, _ in judge.violations(lambda: now_ms, begins=begins)]


def written() -> PartitionLog:
    """A log with a producer, a decided transaction, and one that is open from offset 4 on."""
    log = open_log(producer_id_expiration_ms=EXPIRATION_MS)
    lead(log, idempotent(0, 2, pid=1))
    lead(log, idempotent(0, pid=2, txn=True))
    lead(log, marker(commit=True, pid=2), coordinator=True)
    lead(log, idempotent(0, pid=3, txn=True))
    log.update_high_watermark(log.log_end_offset)
    return log


def judged(log: PartitionLog) -> LogChecker:
    """Return a judge that has read the whole log without a finding."""
    judge = LogChecker(log)
    assert not broken_rules(judge, begins=True)
    return judge


def test_a_logs_state_equals_that_of_its_batches() -> None:
    log = written()
    judge = judged(log)
    lead(log, marker(commit=True, pid=3), coordinator=True)
    lead(log, idempotent(2, pid=1), epoch=3)
    assert not broken_rules(judge)
    log.update_high_watermark(log.log_end_offset)
    assert not broken_rules(judge)
    follow(log, reset(offset=log.log_end_offset, epoch=3))
    assert not broken_rules(judge)


def test_a_snapshot_is_trusted() -> None:
    store = MemoryStore()
    log = open_log(store)
    for sequence in range(3):
        lead(log, idempotent(sequence, pid=1))
    log.close()
    again = open_log(store)
    assert len(again.producers.entries[1].batches) == 1
    judge = judged(again)
    lead(again, idempotent(3, pid=1))
    assert not broken_rules(judge)


def test_a_truncated_log_needs_a_new_judge() -> None:
    log = written()
    judge = judged(log)
    assert judge.is_current_for(log)
    log.truncate_to(2)
    assert not judge.is_current_for(log)
    judged(log)


def test_a_producer_may_only_be_forgotten_when_it_has_expired() -> None:
    log = written()
    judge = judged(log)
    log.remove_expired_producers(NOW_MS + EXPIRATION_MS)
    assert list(log.producers.entries) == [3]
    assert not broken_rules(judge, now_ms=NOW_MS + EXPIRATION_MS)
    log = written()
    judge = judged(log)
    log.remove_expired_producers(NOW_MS + EXPIRATION_MS)
    assert "producers" in broken_rules(judge, now_ms=NOW_MS)


def test_a_producer_that_expired_by_a_clock_that_was_ahead_is_excused() -> None:
    log = written()
    log.remove_expired_producers(NOW_MS + EXPIRATION_MS)
    assert "producers" in broken_rules(LogChecker(log), begins=True)
    assert not broken_rules(LogChecker(log, has_right_clock=False), begins=True)


def forget(log: PartitionLog) -> None:
    log.producers.entries = {1: log.producers.entries[1], 2: log.producers.entries[2]}


def end(log: PartitionLog) -> None:
    log.producers.ongoing = {}


def keep_four(log: PartitionLog) -> None:
    del log.producers.entries[1].batches[:]


def hold_nothing(log: PartitionLog) -> None:
    log.producers.ongoing, log.producers.unreplicated = {}, {}


def hold_too_much(log: PartitionLog) -> None:
    log.producers.unreplicated = {0: 9}


def begin_twice(log: PartitionLog) -> None:
    log.epochs.replace([(0, 0), (1, 5), (2, 5)])


def begin_early(log: PartitionLog) -> None:
    log.epochs.replace([(0, 0), (1, 5)])
    lead(log, batch(), epoch=1)
    lead(log, batch(), epoch=2)
    log.epochs.replace([(0, 0), (1, 5), (2, 6), (3, 7), (4, 8)])


def begin_another(log: PartitionLog) -> None:
    log.epochs.replace([(0, 0), (1, 3)])


@pytest.mark.parametrize(
    ("goes_wrong", "rule"),
    [
        (forget, "producers"),
        (end, "transactions"),
        (keep_four, "producers"),
        (hold_nothing, "stable"),
        (hold_too_much, "stable"),
        (begin_twice, "epoch-order"),
        (begin_early, "epoch-entry"),
        (begin_another, "epochs"),
    ],
)
def test_a_log_with_wrong_state_is_reported(goes_wrong: Callable[[PartitionLog], None], rule: str) -> None:
    log = written()
    judge = judged(log)
    goes_wrong(log)
    lead(log, batch(), epoch=log.latest_epoch)
    assert rule in broken_rules(judge, begins=goes_wrong is keep_four)
