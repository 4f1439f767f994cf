"""Old segments are deleted by log start, size and time, the oldest first, never beyond the high watermark."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.log import retention
from kmirror.log.partition_log import PartitionLog
from tests.builders import NOW_MS, batch, idempotent
from tests.unit.log.partitions import follow, open_log, spans

ONE = len(batch(1))
DAY = 86_400_000


def filled_log(count: int = 10, *, high_watermark: int | None = None, **config: Any) -> PartitionLog:
    """Segments of two batches; the batch at offset N is N seconds younger than `NOW_MS`."""
    log = open_log(segment_bytes=2 * ONE, segment_ms=DAY, **config)
    for offset in range(count):
        follow(log, batch(1, offset=offset, timestamp=NOW_MS + 1_000 * offset))
    log.update_high_watermark(count if high_watermark is None else high_watermark)
    return log


def test_nothing_is_deleted_without_a_reason() -> None:
    log = filled_log()
    assert log.delete_old_segments(NOW_MS) == 0
    assert log.segment_base_offsets == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(("start", "bases"), [(1, [0, 2, 4, 6, 8]), (2, [2, 4, 6, 8]), (7, [6, 8]), (10, [8])])
def test_segments_below_the_log_start_are_deleted(start: int, bases: list[int]) -> None:
    log = filled_log(delete=False, compact=True)
    log.advance_log_start(start)
    log.delete_old_segments(NOW_MS)
    assert log.segment_base_offsets == bases == log.store.segments()
    assert log.log_start_offset == start
    assert open_log(log.store).log_start_offset == bases[0], "the log start above it is the checkpoint's to tell"
    log.write_checkpoints()
    assert open_log(log.store).log_start_offset == start


@pytest.mark.parametrize(("keep", "bases"), [(10, 5), (9, 5), (8, 4), (3, 2), (2, 1), (1, 1), (0, 0)])
def test_size(keep: int, bases: int) -> None:
    log = filled_log(retention_bytes=keep * ONE)
    log.delete_old_segments(NOW_MS)
    assert len(log.segment_base_offsets) == max(bases, 1)
    assert log.size_in_bytes == 2 * bases * ONE
    assert log.log_start_offset == 10 - 2 * bases


@pytest.mark.parametrize(("age", "left"), [(1, 5), (2, 4), (9, 1), (10, 0)])
def test_time_is_that_of_the_youngest_record(age: int, left: int) -> None:
    log = filled_log(retention_ms=5_000)
    log.delete_old_segments(NOW_MS + 5_000 + 1_000 * age)
    assert log.log_start_offset == 10 - 2 * left
    assert log.log_end_offset == 10


def test_a_fully_deleted_log_continues_at_its_end() -> None:
    log = filled_log(retention_ms=5_000)
    log.assign_epoch_start(3)
    assert log.delete_old_segments(NOW_MS + DAY) == 5
    assert (log.segment_base_offsets, log.log_start_offset, log.log_end_offset) == ([10], 10, 10)
    assert log.delete_old_segments(NOW_MS + 2 * DAY) == 0
    assert log.epochs.entries == [(3, 10)]
    follow(log, batch(1, offset=10, epoch=3))
    assert spans(log) == [(10, 10)]
    assert open_log(log.store).log_start_offset == 10


@pytest.mark.parametrize(("high_watermark", "bases"), [(3, 4), (4, 3), (9, 1), (10, 0)])
def test_unreplicated_segments_are_not_deleted(high_watermark: int, bases: int) -> None:
    log = filled_log(retention_ms=5_000, high_watermark=high_watermark)
    log.delete_old_segments(NOW_MS + DAY)
    assert log.size_in_bytes == 2 * bases * ONE
    assert log.log_start_offset <= high_watermark


def test_the_segment_that_replaces_all_is_new() -> None:
    log = filled_log(retention_ms=5_000)
    log.delete_old_segments(NOW_MS + 3 * DAY)
    for offset in (10, 11):
        log.append_as_follower(batch(1, offset=offset, timestamp=-1), max_epoch=0, now_ms=NOW_MS + 3 * DAY)
    assert log.segment_base_offsets == [10]


def test_an_append_by_itself_keeps_a_segment_without_timestamps_young() -> None:
    log = open_log(retention_ms=5_000)
    for offset in (0, 1):
        now_ms = NOW_MS + 3_000 * (offset + 1)
        log.append_as_follower(batch(1, offset=offset, timestamp=-1), max_epoch=0, now_ms=now_ms)
    log.update_high_watermark(2)
    assert log.delete_old_segments(NOW_MS + 11_000) == 0
    assert log.delete_old_segments(NOW_MS + 11_001) == 1


def test_without_timestamps_the_last_append_counts() -> None:
    log = open_log(retention_ms=5_000, segment_bytes=ONE)
    for offset in range(3):
        log.append_as_follower(batch(1, offset=offset, timestamp=-1), max_epoch=0, now_ms=NOW_MS + 1_000 * offset)
    log.update_high_watermark(3)
    log.delete_old_segments(NOW_MS + 6_001)
    assert log.segment_base_offsets == [2]


def test_a_compacted_topic_without_delete_keeps_old_records() -> None:
    log = filled_log(retention_ms=5_000, retention_bytes=0, delete=False, compact=True)
    assert log.delete_old_segments(NOW_MS + DAY) == 0


def test_producers_outlive_their_segments_until_the_log_is_opened_again() -> None:
    log = open_log(segment_bytes=1, retention_ms=5_000)
    follow(log, idempotent(0))
    follow(log, idempotent(1, offset=1, timestamp=NOW_MS + DAY))
    follow(log, idempotent(0, pid=2, offset=2, timestamp=NOW_MS + DAY))
    log.update_high_watermark(3)
    log.delete_old_segments(NOW_MS + DAY)
    assert (log.log_start_offset, sorted(log.producers.entries)) == (1, [1, 2])


def test_the_files_of_deleted_segments_are_deleted_too() -> None:
    log = filled_log(retention_ms=5_000)
    log.delete_old_segments(NOW_MS + 13_500)
    bases = log.segment_base_offsets
    assert bases == [8]
    suffixes = (".index", ".timeindex", ".txnindex", ".snapshot")
    assert {int(name[:20]) for name in log.store.files() if name.endswith(suffixes)} <= set(bases)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
@pytest.mark.parametrize(
    "config",
    [{}, {"retention_ms": 5_000}, {"retention_ms": 0}, {"retention_bytes": ONE}, {"retention_bytes": 0},
     {"retention_ms": -1}, {"delete": False, "compact": True, "retention_ms": 0, "retention_bytes": 0}],
)  # fmt: skip
def test_a_log_has_old_segments_when_a_rule_holds_of_the_first(count: int, config: dict[str, Any]) -> None:
    log = filled_log(count, **config)
    for start in range(count + 1):
        log.advance_log_start(start)
        for now_ms in range(NOW_MS, NOW_MS + 12_000, 500):
            rules = list(retention.rules(log.config, log.log_start_offset, now_ms))
            found = [retention.deletable(log.segments, rule, log.high_watermark) for rule in rules]
            assert log.has_old_segments(now_ms) == any(found), (start, now_ms)


def test_a_log_without_old_segments_is_not_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled_log()
    monkeypatch.delattr(retention, "deletable")
    assert log.set_aside_old_segments(NOW_MS) == []
