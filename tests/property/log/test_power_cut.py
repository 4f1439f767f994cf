"""Power cuts after every single effect on the disk: nothing that was flushed is lost, nothing is invented."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.store import LOG_START_OFFSET, RECOVERY_POINT
from tests.builders import NOW_MS, idempotent, marker, reset
from tests.unit.log.partitions import content, follow, lead, open_log
from tests.unit.log.power_cut import RecordingStore, after_power_cut

Step = Callable[[PartitionLog], object]
CONFIG = {"segment_bytes": 300, "index_interval_bytes": 0}


def writes(count: int, *, pid: int = 1, epoch: int = 0, txn: bool = False) -> Step:
    """Return a step that appends `count` batches of the producer one by one, the last of them a marker if `txn`."""

    def step(log: PartitionLog) -> None:
        for _ in range(count):
            known = log.producers.entries.get(pid)
            sequence = known.last_sequence + 1 if known else 0
            lead(log, idempotent(sequence, pid=pid, txn=txn), epoch=epoch)
        if txn:
            lead(log, marker(pid=pid, commit=False), epoch=epoch, coordinator=True)

    return step


def mirror(count: int, *, epoch: int) -> Step:
    return lambda log: follow(
        log,
        *(idempotent(n, pid=9, offset=log.log_end_offset + 2 * n, epoch=epoch) for n in range(count)),
    )


def forget(log: PartitionLog) -> None:
    lead(log, reset(), epoch=log.latest_epoch, coordinator=True)


def flush(log: PartitionLog) -> None:
    log.flush()


def checkpoint(log: PartitionLog) -> None:
    log.update_high_watermark(log.log_end_offset)
    log.write_checkpoints()


def close(log: PartitionLog) -> None:
    log.close()


def reopen(log: PartitionLog) -> PartitionLog:
    log.close()
    return open_log(log.store, recovery_point=CLEAN_SHUTDOWN, **CONFIG)


def cut(offset: int) -> Step:
    return lambda log: log.truncate_to(offset)


def cut_all(offset: int) -> Step:
    return lambda log: log.truncate_fully_and_start_at(offset)


def lead_from(epoch: int) -> Step:
    return lambda log: log.assign_epoch_start(epoch)


SCENARIOS: dict[str, list[Step]] = {
    "append, flush, roll": [writes(3), flush, writes(4), checkpoint, writes(2), flush, writes(1)],
    "cut and write in an older epoch": [
        *(lead_from(1), writes(3, epoch=1), flush, lead_from(4), writes(5, epoch=4), flush, checkpoint),
        *(cut(3), mirror(6, epoch=1), flush, mirror(3, epoch=2)),
    ],
    "cut inside a rolled segment": [writes(9), flush, checkpoint, cut(4), writes(9, pid=2), flush, cut(1), writes(4)],
    "transactions and resets": [
        *(writes(2, txn=True), writes(1, pid=2, txn=True), forget, flush, writes(3, pid=3)),
        *(checkpoint, cut(5), writes(6, pid=4), flush),
    ],
    "everything cut": [writes(8), checkpoint, flush, cut_all(40), mirror(5, epoch=3), flush, cut_all(0), writes(5)],
    "cut below the log start": [
        *(writes(6), checkpoint, lambda log: log.advance_log_start(4), checkpoint, flush),
        *(cut(2), writes(1, pid=2), flush, writes(2, pid=2)),
    ],
    "cut and not written as far again": [writes(9), flush, cut(3), writes(2, pid=2), flush, writes(1)],
    "a leader that writes nothing": [writes(2), lead_from(3), flush, lead_from(5), checkpoint, mirror(2, epoch=3)],
    "closed": [writes(7, txn=True), close],
    "closed and opened again": [
        writes(5, txn=True),
        reopen,
        writes(4, pid=2, txn=True),
        reopen,
        cut(7),
        writes(2),
        flush,
    ],
    "emptied and opened again": [
        *(writes(5, txn=True), checkpoint, cut_all(40), reopen, mirror(3, epoch=1), flush, reopen, writes(1, epoch=1)),
        *(lambda log: log.update_high_watermark(44), lambda log: log.advance_log_start(44), reopen),
        *(reopen, writes(2, pid=2, epoch=1), flush),
    ],
    "old segments deleted": [
        *(writes(9), checkpoint, lambda log: log.advance_log_start(5), lambda log: log.delete_old_segments(NOW_MS)),
        *(writes(3), flush, checkpoint),
    ],
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_power_cut_after_every_effect_loses_no_flushed_record(name: str) -> None:
    store = RecordingStore()
    log = open_log(store, **CONFIG)
    # After each step: the number of effects, the log's batches, and the flushed ones.
    history = [(len(store.effects), list[bytes](), list[bytes]())]
    for step in SCENARIOS[name]:
        changed = step(log)
        log = changed if isinstance(changed, PartitionLog) else log
        now = batches(log)
        flushed = now if step in (flush, close, reopen) else common_batches(history[-1][2], now)
        history.append((len(store.effects), now, flushed))
    for (begun, before, safe_before), (ended, after, safe_after) in pairwise(history):
        for count in range(begun, ended + 1):
            # During a step, batches that were safe before it and must still exist after it must be there.
            safe = safe_after if count == ended else common_batches(safe_before, after)
            for left in after_power_cut(store.effects[:count]):
                check(left, before, after, safe)
    assert history[-1][0] > 15


def batches(log: PartitionLog) -> list[bytes]:
    """Return all batches in the store, including those below the log start."""
    return [bytes(batch.view) for batch in log.batches(0)]


def common_batches(some: list[bytes], others: list[bytes]) -> list[bytes]:
    return [batch for batch in some if batch in others]


def is_run_of(found: list[bytes], whole: list[bytes]) -> bool:
    """Return whether `found` is `whole` without some batches at its ends."""
    start = whole.index(found[0]) if found and found[0] in whole else 0
    return whole[start : start + len(found)] == found


def check(left: MemoryStore, before: list[bytes], after: list[bytes], safe: list[bytes]) -> None:
    stored = left.read_file(RECOVERY_POINT)
    for recovery_point in {0, int(stored or b"0")}:
        log = open_log(left.fork(), repair=True, recovery_point=recovery_point, **CONFIG)
        found = batches(log)
        assert is_run_of(found, before) or is_run_of(found, after), "nothing that was never in the log"
        assert common_batches(safe, found) == safe, "nothing that was flushed is lost"
        check_epochs(log)
        check_producers(log, repair=True)
        check_goes_on(log)
        try:
            whole = open_log(left.fork(), recovery_point=recovery_point, **CONFIG)
        except CorruptBatch:
            continue  # Its end is torn.
        check_epochs(whole)
        check_producers(whole, repair=False)


def check_epochs(log: PartitionLog) -> None:
    for batch in log.batches():
        assert log.epochs.epoch_for_offset(batch.base_offset) == batch.partition_leader_epoch


def check_producers(log: PartitionLog, *, repair: bool) -> None:
    """The producer table and the aborted transactions equal those from the log's batches alone."""
    bare = MemoryStore.from_files({base: bytes(log.store.view(base)) for base in log.store.segments()}, {})
    bare.write_file(LOG_START_OFFSET, b"%d" % log.log_start_offset)
    bare_log = open_log(bare, repair=repair, **CONFIG)
    told, end = bare_log.producers, log.log_end_offset
    assert log.aborted_transactions(log.log_start_offset, end) == bare_log.aborted_transactions(
        log.log_start_offset, end
    )
    assert {p: repr(e) for p, e in log.producers.entries.items()} == {p: repr(e) for p, e in told.entries.items()}
    assert log.producers.ongoing == told.ongoing


def check_goes_on(log: PartitionLog) -> None:
    end, epoch = log.log_end_offset, max([0, *(batch.partition_leader_epoch for batch in log.batches())])
    follow(log, idempotent(0, pid=77, offset=end, epoch=epoch))
    log.flush()
    again = open_log(log.store, recovery_point=log.recovery_point, **CONFIG)
    assert (again.log_end_offset, content(again)) == (end + 1, content(log))
    assert again.producers.entries[77].last_timestamp == NOW_MS
    check_epochs(again)


def test_flushed_data_is_not_flushed_again() -> None:
    store = RecordingStore()
    log = open_log(store)
    writes(3)(log)
    log.flush()
    before = list(store.effects)
    log.flush()
    assert store.effects == before
