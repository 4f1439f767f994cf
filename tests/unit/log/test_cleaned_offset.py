"""Offset up to which a cleaner has compacted a log, and the truncations that may be unsafe therefore (D63)."""

from __future__ import annotations

import pytest

from kmirror.cluster.replication.truncation import is_half_truncated, loses_keys, must_truncate_fully
from kmirror.log.partition_log import PartitionLog
from tests.builders import NOW_MS, batch
from tests.unit.log.partitions import follow, open_log
from tests.unit.log.test_cleaner import compacted, put, roll, run

pytestmark = pytest.mark.decision("D63")


def cleaned() -> PartitionLog:
    """Keys a to d at offsets 0 to 3, and a, b again at 4 and 5, for which 0 and 1 were removed; 6 was not cleaned."""
    log = compacted()
    for key in "abcdab":
        put(log, (key, "v"))
    roll(log)
    run(log)
    put(log, ("e", "v"))
    return log


@pytest.mark.parametrize(("cut", "loses"), [(1, True), (3, True), (5, True), (6, False), (7, False), (9, False)])
def test_a_truncation_below_the_cleaner_may_lose_keys(cut: int, loses: bool) -> None:
    log = cleaned()
    assert log.cleaned_offset == 6
    assert loses_keys(log, cut) is loses
    again = open_log(log.store)
    assert loses_keys(again, cut) is loses, "it is known after a restart"
    assert must_truncate_fully(again, cut) is loses


def test_a_truncation_without_missing_offsets_below_loses_no_keys() -> None:
    log = compacted()
    for key in "abcdcd":
        put(log, (key, "v"))
    roll(log)
    run(log)
    assert log.cleaned_offset == 6
    assert [cut for cut in range(7) if loses_keys(log, cut)] == [3, 4, 5], "c and d are gone at 2 and 3"


def test_a_record_that_is_missing_inside_a_batch_is_seen() -> None:
    log = compacted()
    put(log, ("a", "v"), ("b", "v"), ("c", "v"))
    put(log, ("b", "w"))
    put(log, ("d", "v"))
    roll(log)
    run(log)
    assert loses_keys(log, 3)
    assert loses_keys(log, 4)
    assert not loses_keys(log, 2), "that cuts the whole batch, and leaves nothing"


def test_a_run_counts_before_it_changes_anything() -> None:
    """A crash may come between the segments and the checkpoint."""
    log = compacted()
    for key in "abab":
        put(log, (key, "v"))
    roll(log)
    job = log.begin_compaction(log.cleanable(NOW_MS), NOW_MS, 1_000)
    done = job.run()
    assert open_log(log.store.fork()).cleaned_offset == 4  # type: ignore[attr-defined]
    log.compaction = None
    assert log.finish_compaction(job, done) is None
    assert log.cleaned_offset == 0, "what came to nothing has changed nothing"


def test_a_log_restarted_from_scratch_was_never_cleaned() -> None:
    log = cleaned()
    log.record_copied_range(0, 90)
    log.truncate_fully_and_start_at(0)
    assert log.cleaned_offset == 0
    assert open_log(log.store).cleaned_offset == 0


def test_a_clean_shutdown_writes_the_same_files_as_kafka() -> None:
    log = cleaned()
    log.close()
    assert not [name for name in log.store.files() if name.startswith("c") and name != "cleaner-offset"]
    assert open_log(log.store).cleaned_offset == 6


@pytest.mark.parametrize(
    ("gap", "high_watermark", "expected"), [(True, 90, 90), (False, 90, 0), (True, 3, 0)], ids=["", "no gap", "above"]
)
def test_copied_records_may_have_been_cleaned_up_to_the_source_high_watermark(
    gap: bool, high_watermark: int, expected: int
) -> None:
    """Gaps are copied too, and the copy does not know for which later records others are missing."""
    log = compacted()
    follow(log, batch(3))
    follow(log, batch(offset=5 if gap else 3))
    log.record_copied_range(3, high_watermark)
    assert log.cleaned_offset == expected
    assert open_log(log.store).cleaned_offset == expected
    follow(log, batch(4, offset=log.log_end_offset))
    assert loses_keys(log, log.log_end_offset - 1) is (expected > 0)


def test_a_log_without_compaction_is_not_checked() -> None:
    log = open_log()
    follow(log, batch(offset=5))
    log.record_copied_range(0, 90)
    assert log.cleaned_offset == 0


def test_a_crash_during_a_full_truncation_is_detected_afterwards() -> None:
    log = compacted(segment_bytes=150)
    for key in "abababab":
        put(log, (key, "v"))
    roll(log)
    run(log)
    for key in "cdcd":
        put(log, (key, "v"))
    roll(log)
    run(log)
    assert not is_half_truncated(log)
    first, *later = log.segment_base_offsets
    for base_offset in reversed(later):  # The order in which the segments are removed.
        log.store.delete(base_offset)
    again = open_log(log.store)
    assert again.cleaner_offset == 12 > again.log_end_offset > first
    assert is_half_truncated(again)
