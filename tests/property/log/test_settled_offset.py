"""Which transactions would a cut at the last stable offset reopen, that began below it?"""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from tests.builders import idempotent, marker
from tests.unit.log.partitions import lead, open_log

KINDS = ["write", "write", "end", "hold", "cut", "anew", "open"]
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), st.integers(0, 3)), max_size=40)
BEGUN = [("write", 0), ("write", 1)]
TWO_BEFORE = [*BEGUN, ("write", 2), ("end", 0), ("end", 1)]
ENDED_ON_THIS_BROKER_ALONE = [*BEGUN, ("end", 0), ("hold", 1), ("end", 1)]
ALL_ABOVE_THE_HIGH_WATERMARK = [("hold", 3), *BEGUN, ("end", 0)]
READ_FROM_A_SNAPSHOT = [*BEGUN, ("end", 0), ("open", 0)]
OFFSETS_USED_AGAIN = [("write", 3), *BEGUN, ("end", 0), ("anew", 0), ("write", 3), ("write", 1)]


def reopened(log: PartitionLog) -> list[int]:
    """Return where the transactions begin that begin below the last stable offset and end at or above it."""
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
@example(ALL_ABOVE_THE_HIGH_WATERMARK)
@example(READ_FROM_A_SNAPSHOT)
@example(OFFSETS_USED_AGAIN)
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
        elif what == "anew":
            log.truncate_fully_and_start_at(pid)
            sequences = dict.fromkeys(range(4), 0)
        elif what == "open":
            log.close()
            log, is_exact = open_log(store), False
        log.update_high_watermark(max(log.high_watermark, log.log_end_offset - lag))
        settled = min([log.last_stable_offset, *reopened(log)])
        assert log.settled_offset == settled if is_exact else log.settled_offset <= settled
        assert set(log.producers.overlapped) <= {*log.producers.ongoing, *log.producers.unreplicated}
        if not log.producers.ongoing and not log.producers.unreplicated:
            assert log.settled_offset == log.high_watermark, "nothing is held back for ever"
