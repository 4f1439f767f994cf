"""Transactions from below the last stable offset that a truncation to it would reopen."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from tests.builders import idempotent, marker
from tests.unit.log.partitions import lead, open_log

KINDS = ["write", "write", "end", "hold", "cut", "open"]
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3)), max_size=40)
BEGUN = [("write", 0), ("write", 1)]
TWO_BEFORE = [*BEGUN, ("write", 2), ("end", 0), ("end", 1)]
ENDED_ON_THIS_BROKER_ALONE = [*BEGUN, ("end", 0), ("hold", 1), ("end", 1)]
READ_FROM_A_SNAPSHOT = [*BEGUN, ("end", 0), ("open", 0)]


def reopened_transactions(log: PartitionLog) -> list[int]:
    """Return the start offsets of transactions that begin below the last stable offset and end at or above it."""
    begun: dict[int, int] = {}
    stable, found = log.last_stable_offset, []
    for batch in log.batches():
        if not batch.is_control:
            begun.setdefault(batch.producer_id, batch.base_offset)
        elif (first := begun.pop(batch.producer_id, stable)) < stable <= batch.base_offset:
            found.append(first)
    return found


@pytest.mark.decision("D46")
@given(STEPS)
@example(TWO_BEFORE)
@example(ENDED_ON_THIS_BROKER_ALONE)
@example(READ_FROM_A_SNAPSHOT)
def test_none_of_them_begins_below_the_settled_offset(steps: list[tuple[str, int]]) -> None:
    store, is_exact = MemoryStore(), True
    log = open_log(store)
    sequences, lag = dict.fromkeys(range(4), 0), 0
    for what, pid in steps:
        if what == "write":
            lead(log, idempotent(sequences[pid], pid=pid, txn=True))
            sequences[pid] += 1
        elif what == "end" and pid in log.producers.ongoing.values():
            lead(log, marker(commit=True, pid=pid), coordinator=True)
        elif what == "hold":
            lag = pid
        elif what == "cut":
            log.truncate_to(log.last_stable_offset)
            sequences = {pid: known.last_sequence + 1 for pid, known in log.producers.entries.items()}
            sequences = {pid: sequences.get(pid, 0) for pid in range(4)}
        elif what == "open":
            log.close()
            log, is_exact = open_log(store), False
        log.update_high_watermark(max(log.high_watermark, log.log_end_offset - lag))
        settled = min([log.last_stable_offset, *reopened_transactions(log)])
        assert log.settled_offset == settled if is_exact else log.settled_offset <= settled
        assert set(log.producers.reopened_from) <= {*log.producers.ongoing, *log.producers.unreplicated}
        if not log.producers.ongoing and not log.producers.unreplicated:
            assert log.settled_offset == log.high_watermark, "nothing is held back for ever"


def with_one_that_began_before() -> PartitionLog:
    """Return a log with one record in each segment: a finished transaction begins at 1, an open one at 2."""
    log = open_log()
    lead(log, idempotent(0, pid=3))
    for pid in (0, 1):
        log.roll(log.log_end_offset)
        lead(log, idempotent(0, pid=pid, txn=True))
    log.roll(log.log_end_offset)
    lead(log, marker(commit=True, pid=0), coordinator=True)
    log.update_high_watermark(4)
    assert (log.last_stable_offset, log.settled_offset) == (2, 1)
    return log


@pytest.mark.decision("D46")
def test_the_settled_offset_is_not_above_the_last_stable_offset() -> None:
    """A follower's high watermark falls if its new leader has a lower one."""
    log = with_one_that_began_before()
    log.update_high_watermark(0)
    assert log.settled_offset == log.last_stable_offset == 0


@pytest.mark.decision("D46")
def test_a_log_restarted_from_scratch_forgets_its_transactions() -> None:
    log = with_one_that_began_before()
    log.truncate_fully_and_start_at(2)
    lead(log, idempotent(0, pid=1, txn=True))
    assert log.settled_offset == log.last_stable_offset == 2


@pytest.mark.decision("D46")
def test_only_the_cleaner_of_a_mirrored_log_stays_below_it() -> None:
    log = with_one_that_began_before()
    assert log.cleanable(0).first_uncleanable_offset == log.last_stable_offset
    assert log.cleanable(0, is_mirrored=True).first_uncleanable_offset == log.settled_offset
