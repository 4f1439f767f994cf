"""Background jobs of a log: flush, compaction, deletion. A truncation cancels their claims."""

from __future__ import annotations

import pytest

from kmirror.log.cleanable import Cleanable
from kmirror.log.cleaner import KEYS_MAX, Compaction
from kmirror.log.log_state import LogState
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog
from kmirror.log.store import CLEANER_OFFSET
from tests.builders import NOW_MS, batch
from tests.unit.log.partitions import lead, open_log

MANY = 1 << 20


def written(count: int = 8, **config: object) -> PartitionLog:
    """Return a log with two batches of one record in each segment, all with one key."""
    log = open_log(segment_bytes=2 * len(batch()), compact=True, **config)
    for number in range(count):
        log.append_as_follower(batch(offset=number), max_epoch=0)
    log.update_high_watermark(count)
    return log


def begin_compaction(log: PartitionLog) -> Compaction:
    return log.begin_compaction(log.cleanable(NOW_MS), NOW_MS, KEYS_MAX)


def offsets(log: PartitionLog) -> list[int]:
    return [batch.base_offset for batch in log.batches() if batch.record_count]


def bytes_of(log: PartitionLog) -> list[bytes]:
    return [bytes(log.store.view(base)) for base in log.store.segments()]


def test_a_flush_covers_records_appended_before_its_request() -> None:
    log = written(3)
    flush = log.begin_flush(log.log_end_offset)
    assert flush is not None and log.recovery_point == 2, "where the active segment begins"
    assert log.begin_flush(log.log_end_offset) is None, "one at a time"
    log.append_as_follower(batch(offset=3), max_epoch=0)
    flush.run()
    log.finish_flush(NOW_MS + 5, done=True)
    assert (log.recovery_point, log.flushing.last_flush_ms) == (3, NOW_MS + 5)
    assert log.begin_flush(log.log_end_offset) is not None, "what came since"


def test_a_rolled_segment_is_flushed_unless_flushes_are_deferred() -> None:
    at_once, deferred = open_log(segment_bytes=100), open_log(segment_bytes=100)
    deferred.flushing.is_deferred = True
    for log in (at_once, deferred):
        for number in range(3):
            log.append_as_follower(batch(offset=number), max_epoch=0)
    assert (at_once.recovery_point, deferred.recovery_point) == (2, 0)
    flush = deferred.begin_flush(deferred.segments.active.base_offset)
    assert flush is not None and flush.base_offsets == [0, 1], "not the active one"
    flush.run()
    deferred.finish_flush(NOW_MS, done=True)
    assert deferred.recovery_point == 2


def test_closing_a_log_flushes_its_unflushed_parts() -> None:
    log = open_log(segment_bytes=100)
    log.flushing.is_deferred = True
    for number in range(3):
        log.append_as_follower(batch(offset=number), max_epoch=0)
    log.close()
    assert isinstance(log.store, MemoryStore) and log.store.cut_power(lambda unflushed: 0) == 0


def test_a_flush_that_failed_makes_nothing_safe() -> None:
    log = written(3)
    assert log.begin_flush(log.log_end_offset) is not None
    log.finish_flush(NOW_MS, done=False)
    assert log.recovery_point == 2 and log.begin_flush(log.log_end_offset) is not None


def test_parts_rewritten_during_a_flush_are_not_safe() -> None:
    log = written(4)
    flush = log.begin_flush(log.log_end_offset)
    assert flush is not None
    flush.run()
    log.truncate_to(3)
    log.append_as_follower(batch(offset=3, epoch=1), max_epoch=1)
    log.finish_flush(NOW_MS, done=True)
    assert (log.recovery_point, log.log_end_offset) == (3, 4)


def test_a_segment_that_went_during_a_flush_is_no_fault() -> None:
    log = written(4)
    flush = log.begin_flush(log.log_end_offset)
    assert flush is not None
    log.truncate_fully_and_start_at(9)
    flush.run()
    log.finish_flush(NOW_MS, done=True)
    assert log.recovery_point <= log.log_end_offset == 9


def test_a_log_accepts_appends_and_reads_during_a_compaction() -> None:
    log = written()
    job = begin_compaction(log)
    done = job.run()
    assert offsets(log) == list(range(8)), "nothing has changed yet"
    log.append_as_follower(batch(offset=8), max_epoch=0)
    cleaned = log.finish_compaction(job, done)
    assert cleaned is not None and cleaned.end_offset == 6
    assert offsets(log) == [5, 6, 7, 8] and log.store.read_file(CLEANER_OFFSET) == b"6"


def test_it_ends_as_a_compaction_without_a_pause_does() -> None:
    at_once, apart = written(), written()
    at_once.compact(NOW_MS)
    job = begin_compaction(apart)
    apart.finish_compaction(job, job.run())
    assert bytes_of(apart) == bytes_of(at_once)
    assert {name: apart.store.read_file(name) for name in apart.store.files()} == {
        name: at_once.store.read_file(name) for name in at_once.store.files()
    }


@pytest.mark.parametrize("when", ["before the job ran", "after it"])
@pytest.mark.parametrize("cut", [0, 1, 3, 5])
def test_a_log_truncated_below_its_active_segment_is_not_compacted(cut: int, when: str) -> None:
    log, other = written(), written()
    job = begin_compaction(log)
    if when == "before the job ran":
        log.truncate_to(cut)
        assert log.finish_compaction(job, job.run()) is None
    else:
        done = job.run()
        log.truncate_to(cut)
        assert log.finish_compaction(job, done) is None
    other.truncate_to(cut)
    assert offsets(log) == offsets(other) and bytes_of(log) == bytes_of(other)
    assert isinstance(log.store, MemoryStore) and not log.store._staged, "nothing is left of it"


def test_a_truncation_within_the_active_segment_does_not_cancel_a_compaction() -> None:
    log = written()
    job = begin_compaction(log)
    log.truncate_to(7)
    assert log.finish_compaction(job, job.run()) is not None
    assert offsets(log) == [5, 6]


def test_a_job_from_before_a_truncation_does_not_end_a_later_one() -> None:
    log = written()
    old = begin_compaction(log)
    done = old.run()
    log.truncate_to(4)
    log.append_as_follower(batch(offset=4, epoch=1), max_epoch=1)
    log.append_as_follower(batch(offset=5, epoch=1), max_epoch=1)
    log.append_as_follower(batch(offset=6, epoch=1), max_epoch=1)
    log.update_high_watermark(7)
    new = begin_compaction(log)
    assert log.finish_compaction(old, done) is None
    assert log.finish_compaction(new, new.run()) is not None
    assert offsets(log) == [5, 6]


def test_deleted_segments_leave_their_bytes_to_be_purged() -> None:
    log = written(retention_bytes=0)
    assert log.set_aside_old_segments(NOW_MS) == [0, 2, 4, 6]
    assert (log.segment_base_offsets, log.log_start_offset) == ([8], 8)


@pytest.mark.parametrize("start", [0, 3, 5])
def test_a_mirrored_log_loses_only_segments_below_its_start(start: int) -> None:
    log = written(retention_bytes=0, retention_ms=0)
    log.advance_log_start(start)
    gone = log.set_aside_old_segments(NOW_MS + (1 << 40), is_mirrored=True)
    assert gone == [base for base in (0, 2, 4, 6) if base + 2 <= start]


@pytest.mark.parametrize(("lag_ms", "overdue"), [(1_000, True), (1_001, False), (MANY, False)])
def test_a_log_is_overdue_when_a_dirty_segment_is_too_old(lag_ms: int, overdue: bool) -> None:
    log = written(max_compaction_lag_ms=lag_ms)
    what = log.cleanable(NOW_MS + 1_001)
    assert what.is_overdue == overdue and what.is_dirty_enough(1.0) == overdue


def test_an_overdue_log_without_anything_to_clean_waits() -> None:
    assert not Cleanable(0, 0, 0, 10, 0, True).is_dirty_enough(0.0)


def test_a_log_that_was_given_up_writes_no_checkpoint() -> None:
    log, unsaved = open_log(), dict[LogState, None]()
    log.track_unsaved(unsaved)
    assert log in unsaved
    lead(log, batch())
    job = log.begin_flush(log.log_end_offset)
    assert job is not None
    log.track_unsaved(None)
    job.run()
    log.finish_flush(NOW_MS, done=True)
    assert not unsaved, "its folder may be gone"
