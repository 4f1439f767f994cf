"""The cleaner removes superseded records and keeps all that a reader may still need."""

from __future__ import annotations

from typing import Any

import pytest

from kmirror.log.partition_log import CLEAN_SHUTDOWN, PartitionLog
from kmirror.log.store import CLEANER_OFFSET
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.layout import TimestampType
from kmirror.records.record import RecordData
from tests.builders import NOW_MS, marker, reset
from tests.unit.log.partitions import content, follow, open_log

DAY = 86_400_000
LATER = NOW_MS + 5 * DAY
Pair = tuple[str, str | None]


def compacted(**config: Any) -> PartitionLog:
    return open_log(compact=True, delete=False, **{"segment_bytes": 1 << 20, "delete_retention_ms": DAY} | config)


def put(log: PartitionLog, *pairs: Pair, **fields: Any) -> None:
    """Append one batch of the pairs."""
    records = [
        RecordData(k.encode(), None if v is None else v.encode(), (), NOW_MS + i) for i, (k, v) in enumerate(pairs)
    ]
    follow(log, build_batch(records, base_offset=log.log_end_offset, partition_leader_epoch=0, **fields))


def txn(log: PartitionLog, pid: int, sequence: int, *pairs: Pair) -> None:
    put(log, *pairs, producer_id=pid, producer_epoch=0, base_sequence=sequence, is_transactional=True)


def end(log: PartitionLog, pid: int, *, commit: bool) -> None:
    follow(log, marker(pid=pid, commit=commit, offset=log.log_end_offset))


def roll(log: PartitionLog) -> None:
    """Close the active segment, so that its records can be cleaned."""
    log.roll(log.log_end_offset)
    log.update_high_watermark(log.log_end_offset)


def run(log: PartitionLog, now_ms: int = NOW_MS, **options: Any) -> None:
    before = (
        log.log_start_offset,
        log.log_end_offset,
        log.high_watermark,
        log.epochs.entries,
        repr(log.producers.entries),
    )
    log.compact(now_ms, **options)
    after = (
        log.log_start_offset,
        log.log_end_offset,
        log.high_watermark,
        log.epochs.entries,
        repr(log.producers.entries),
    )
    assert before == after
    again = open_log(log.store.fork())  # type: ignore[attr-defined]
    assert content(again) == content(log), "what is left is a sound log"


def data_records(log: PartitionLog) -> list[tuple[int, str, str | None]]:
    """Return offset, key and value of all data records in the log."""
    return [
        (record.offset, (record.key or b"").decode(), None if record.value is None else record.value.decode())
        for batch in log.batches(0)
        if not batch.is_control
        for record in batch.records()
    ]


def shape(log: PartitionLog) -> list[tuple[int, int, int]]:
    """Return first and last offset and record count of each batch."""
    return [(batch.base_offset, batch.last_offset, batch.record_count) for batch in log.batches(0)]


def test_the_latest_of_each_key_stays_at_its_offset() -> None:
    log = compacted()
    put(log, ("a", "1"), ("b", "1"), ("a", "2"))
    put(log, ("c", "1"), ("c", "2"))
    put(log, ("b", "2"), ("d", "1"))
    roll(log)
    put(log, ("a", "9"))
    run(log)
    assert data_records(log) == [(2, "a", "2"), (4, "c", "2"), (5, "b", "2"), (6, "d", "1"), (7, "a", "9")]
    assert shape(log) == [(0, 2, 1), (3, 4, 1), (5, 6, 2), (7, 7, 1)], "batches keep their span"


def test_untouched_batches_keep_their_bytes_and_rewritten_ones_their_fields() -> None:
    log = compacted()
    put(log, ("a", "1"), ("b", "1"), compression=Compression.ZSTD)
    put(log, ("c", "1"), ("a", "2"), compression=Compression.GZIP)
    roll(log)
    before = [bytes(batch.view) for batch in log.batches()]
    run(log)
    rewritten, kept = log.batches()
    assert bytes(kept.view) == before[1]
    assert (rewritten.compression, rewritten.base_timestamp, rewritten.max_timestamp) == (
        Compression.ZSTD,
        NOW_MS + 1,
        NOW_MS + 1,
    )
    rewritten.verify_crc()


def test_the_active_segment_and_undecided_records_stay() -> None:
    log = compacted()
    put(log, ("a", "1"))
    put(log, ("a", "2"))
    log.update_high_watermark(2)
    assert log.compact(NOW_MS) is None, "there is only the active segment"
    roll(log)
    txn(log, 1, 0, ("a", "3"))
    roll(log)
    put(log, ("a", "4"))
    roll(log)
    run(log)
    assert [offset for offset, _, _ in data_records(log)] == [1, 2, 3], "the open transaction bounds the run"
    end(log, 1, commit=True)
    roll(log)
    run(log)
    assert [offset for offset, _, _ in data_records(log)] == [3]


def test_unreplicated_records_are_not_cleaned() -> None:
    log = compacted()
    put(log, ("a", "1"))
    put(log, ("a", "2"))
    log.roll(2)
    log.update_high_watermark(1)
    assert log.compact(NOW_MS) is None


def test_a_tombstone_stays_for_its_retention_after_the_run_that_saw_it() -> None:
    log = compacted()
    put(log, ("a", "1"), ("b", "1"))
    put(log, ("a", None))
    roll(log)
    put(log, ("z", "1"))
    roll(log)
    run(log, NOW_MS)
    assert data_records(log)[:2] == [(1, "b", "1"), (2, "a", None)]
    horizons = [batch.delete_horizon_ms for batch in log.batches()]
    assert horizons == [None, NOW_MS + DAY, None]
    assert [record.timestamp for batch in log.batches() for record in batch.records()][1] == NOW_MS
    put(log, ("y", "1"))
    roll(log)
    run(log, NOW_MS + DAY - 1)
    assert (2, "a", None) in data_records(log)
    put(log, ("x", "1"))
    roll(log)
    run(log, NOW_MS + DAY)
    assert (2, "a", None) not in data_records(log)


@pytest.mark.decision("D73")
@pytest.mark.parametrize("is_mirrored", [False, True])
def test_the_delete_horizon_of_a_mirrored_batch_restarts_with_the_first_cleaning(is_mirrored: bool) -> None:
    """The horizon of a batch of this cluster's leader applies."""
    log = compacted()
    put(log, ("a", "1"))
    put(log, ("a", None), delete_horizon_ms=NOW_MS - 1)  # 1
    put(log, ("b", "1"))
    for number in range(3):
        roll(log)
        put(log, ("z", str(number)))
        roll(log)
        run(log, NOW_MS + (0, DAY - 1, DAY)[number], is_mirrored=is_mirrored)
        assert ((1, "a", None) in data_records(log)) is (is_mirrored and number < 2)


@pytest.mark.decision("D73")
def test_so_does_that_of_a_mirrored_batch_in_which_the_log_begins() -> None:
    """A mirror copies whole batches, even if the source has deleted their first records."""
    log = compacted()
    put(log, ("a", "1"), ("b", None), delete_horizon_ms=NOW_MS - 1)
    put(log, ("c", "1"))
    roll(log)
    log.advance_log_start(1)
    put(log, ("z", "1"))
    roll(log)
    run(log, NOW_MS, is_mirrored=True)
    assert (1, "b", None) in data_records(log)


@pytest.mark.decision("D73")
def test_so_does_that_of_a_mirrored_marker() -> None:
    source = compacted()
    follow(source, marker(pid=1, commit=True, offset=0))
    put(source, ("z", "1"))
    roll(source)
    put(source, ("y", "1"))
    roll(source)
    run(source, NOW_MS)
    (batch, *_) = source.batches()
    assert batch.is_control and batch.delete_horizon_ms == NOW_MS + DAY
    for is_mirrored, expected in ((False, (0, None)), (True, (1, LATER + DAY))):
        copy = compacted()
        follow(copy, bytes(batch.view))
        put(copy, ("z", "1"))
        roll(copy)
        put(copy, ("y", "1"))
        roll(copy)
        run(copy, LATER, is_mirrored=is_mirrored)
        (left_of_it, *_) = copy.batches()
        assert (left_of_it.record_count, left_of_it.delete_horizon_ms) == expected


def test_records_of_aborted_transactions_are_removed_and_then_their_markers() -> None:
    log = compacted()
    txn(log, 1, 0, ("a", "bad"))  # 0
    txn(log, 2, 0, ("b", "good"))  # 1
    end(log, 1, commit=False)  # 2
    end(log, 2, commit=True)  # 3
    txn(log, 1, 1, ("c", "later"))  # 4; so the aborted batch is not the producer's last.
    end(log, 1, commit=True)  # 5
    roll(log)
    put(log, ("z", "1"))  # 6
    roll(log)
    run(log, NOW_MS)
    assert [row[0] for row in shape(log)] == [1, 2, 3, 4, 5, 6]
    assert [row.producer_id for row in log.aborted_transactions(0, 9)] == [1], "the marker is still there"
    put(log, ("z", "2"))  # 7
    roll(log)
    run(log, NOW_MS)
    marks = {batch.base_offset: batch.delete_horizon_ms for batch in log.batches() if batch.is_control}
    assert marks == {2: NOW_MS + DAY, 3: None, 5: None}, "only the empty transaction's marker is on its way out"
    assert log.aborted_transactions(0, 9) == []
    put(log, ("z", "3"))
    roll(log)
    run(log, NOW_MS + DAY)
    assert [batch.base_offset for batch in log.batches() if batch.is_control] == [3, 5]


def test_transactions_aborted_below_the_log_start_are_not_looked_up() -> None:
    log = compacted()
    txn(log, 1, 0, ("a", "aborted"))
    end(log, 1, commit=False)
    put(log, ("b", "1"))
    roll(log)
    log.advance_log_start(2)
    log.write_checkpoints()
    run(log)
    assert data_records(log) == [(0, "a", "aborted"), (2, "b", "1")]
    assert not log.segments[0].aborted


def test_a_cleaned_segment_is_as_old_as_it_was() -> None:
    log = open_log(compact=True, retention_ms=1_000)
    follow(log, build_batch([RecordData(b"a", b"1")]))
    roll(log)
    run(log, NOW_MS + 900)
    assert log.delete_old_segments(NOW_MS + 1_000) == 0
    assert log.delete_old_segments(NOW_MS + 1_001) > 0


def test_an_aborted_record_supersedes_nothing() -> None:
    log = compacted()
    put(log, ("a", "1"))
    txn(log, 1, 0, ("a", "bad"))
    end(log, 1, commit=False)
    roll(log)
    run(log)
    assert data_records(log) == [(0, "a", "1")]


def test_a_commit_marker_outlives_the_transactions_records() -> None:
    log = compacted()
    txn(log, 1, 0, ("a", "1"))  # 0
    end(log, 1, commit=True)  # 1
    txn(log, 1, 1, ("a", "2"))  # 2
    end(log, 1, commit=True)  # 3
    put(log, ("z", "1"))
    roll(log)
    run(log, NOW_MS)
    assert [batch.base_offset for batch in log.batches()] == [1, 2, 3, 4]
    put(log, ("z", "2"))
    roll(log)
    run(log, NOW_MS)
    assert {b.base_offset: b.delete_horizon_ms for b in log.batches() if b.is_control} == {1: NOW_MS + DAY, 3: None}


def test_the_last_batch_of_a_known_producer_stays_as_a_header() -> None:
    log = compacted()
    put(log, ("a", "1"), ("b", "1"), producer_id=5, producer_epoch=2, base_sequence=7)
    put(log, ("a", "2"), ("b", "2"))
    roll(log)
    before = next(log.batches())
    fields = before.producer_id, before.producer_epoch, before.base_sequence, before.last_sequence, before.max_timestamp
    run(log)
    header = next(log.batches())
    assert (header.record_count, header.size_in_bytes, header.base_timestamp) == (0, 61, -1)
    kept = header.producer_id, header.producer_epoch, header.base_sequence, header.last_sequence, header.max_timestamp
    assert kept == fields
    log.producers.entries = {}  # As after its expiry.
    put(log, ("c", "1"))
    roll(log)
    run(log)
    assert shape(log) == [(2, 3, 2), (4, 4, 1)]


def test_the_marker_that_holds_a_producers_epoch_stays() -> None:
    log = compacted()
    txn(log, 1, 0, ("a", "1"))
    follow(log, marker(pid=1, commit=True, producer_epoch=1, offset=1))
    put(log, ("a", "2"))
    roll(log)
    for _ in range(3):
        run(log, LATER)
        put(log, ("z", "1"))
        roll(log)
    assert [batch.base_offset for batch in log.batches()][:2] == [1, 2]


def test_the_last_batch_of_the_run_stays_as_a_header() -> None:
    log = compacted()
    put(log, ("a", "1"))
    follow(log, build_batch([RecordData(None, b"x", (), NOW_MS)], base_offset=1))  # Useless without a key.
    roll(log)
    run(log)
    assert shape(log) == [(0, 0, 1), (1, 1, 0)], "else the log's end would be forgotten with it"
    put(log, ("b", "1"))
    roll(log)
    run(log)
    assert shape(log) == [(0, 0, 1), (2, 2, 1)]


@pytest.mark.decision("D15")
def test_a_reset_stays_for_ever() -> None:
    log = compacted()
    put(log, ("a", "1"))
    follow(log, reset(offset=1))
    put(log, ("a", "2"))
    for days in (0, 5, 10):
        roll(log)
        run(log, NOW_MS + days * DAY)
        put(log, ("z", str(days)))
    assert [batch.base_offset for batch in log.batches() if batch.is_control] == [1]
    assert log.store.read_file(CLEANER_OFFSET) is not None


def test_records_without_keys_are_removed() -> None:
    log = compacted()
    follow(log, build_batch([RecordData(None, b"x", (), NOW_MS), RecordData(b"k", b"y", (), NOW_MS)]))
    roll(log)
    run(log)
    assert data_records(log) == [(1, "k", "y")]


def test_append_time_is_kept() -> None:
    log = compacted()
    stamp = {"timestamp_type": TimestampType.LOG_APPEND_TIME, "timestamp_ms": NOW_MS + 77}
    put(log, ("a", "1"), ("b", "1"), **stamp)
    put(log, ("a", "2"))
    roll(log)
    run(log)
    first = next(log.batches())
    assert (first.timestamp_type, first.max_timestamp) == (TimestampType.LOG_APPEND_TIME, NOW_MS + 77)
    assert [record.timestamp for record in first.records()] == [NOW_MS + 77]


def test_small_neighbours_become_one_segment() -> None:
    log = compacted(segment_bytes=500)
    for number in range(20):
        put(log, (f"k{number % 3}", "v" * 40))
    roll(log)
    bases = log.segment_base_offsets
    names = set(log.store.files())
    run(log)
    assert log.segment_base_offsets == bases, "neighbours are measured as they were"
    put(log, ("k0", "v"))
    roll(log)
    bases = log.segment_base_offsets
    run(log)
    assert len(log.segment_base_offsets) < len(bases)
    assert log.segment_base_offsets[0] == 0 and log.segment_base_offsets[-1] == bases[-1]
    assert log.store.segments() == log.segment_base_offsets
    gone = {f"{base:020d}" for base in set(bases) - set(log.segment_base_offsets)}
    assert not [name for name in log.store.files() if name[:20] in gone and not name.endswith(".snapshot")]
    assert names - set(log.store.files()), "with their indexes"
    by_index = open_log(log.store, recovery_point=CLEAN_SHUTDOWN)
    assert content(by_index) == content(log)


def test_a_run_begins_where_the_last_one_ended() -> None:
    log = compacted()
    put(log, ("a", "1"), ("b", "1"))
    roll(log)
    put(log, ("a", "2"))
    first = log.compact(NOW_MS)
    assert first is not None and (first.end_offset, log.store.read_file(CLEANER_OFFSET)) == (2, b"2")
    assert log.compact(NOW_MS) is None, "nothing is dirty"
    roll(log)
    run(log)
    assert data_records(log) == [(1, "b", "1"), (2, "a", "2")]


def test_a_truncation_lowers_the_cleaners_checkpoint() -> None:
    log = compacted()
    for number in range(6):
        put(log, ("a", str(number)))
    roll(log)
    log.compact(NOW_MS)
    log.truncate_to(2)
    assert log.store.read_file(CLEANER_OFFSET) == b"2"


@pytest.mark.parametrize(("ratio", "runs"), [(0.0, True), (0.33, True), (0.34, False), (0.5, False)])
def test_a_log_must_be_dirty_enough(ratio: float, runs: bool) -> None:
    log = compacted()
    for first in (0, 2):
        put(log, (f"k{first}", "1"))
        put(log, (f"k{first + 1}", "1"))
        roll(log)
        if first == 0:
            log.compact(NOW_MS)
    put(log, ("x", "1"))
    what = log.cleanable(NOW_MS)
    assert what.clean_bytes == what.dirty_bytes > 0
    share = what._replace(clean_bytes=2 * what.dirty_bytes)
    assert share.is_dirty_enough(ratio) == runs
    assert not what.is_dirty_enough(0.5), "half of it is, and more than half must be"


def test_young_segments_wait_for_their_lag() -> None:
    log = compacted(min_compaction_lag_ms=DAY)
    put(log, ("a", "1"))
    roll(log)
    put(log, ("a", "2"))
    roll(log)
    assert log.compact(NOW_MS + DAY - 1) is None
    run(log, NOW_MS + DAY)
    assert data_records(log) == [(1, "a", "2")]


def test_more_keys_than_fit_are_left_for_the_next_run() -> None:
    log = compacted()
    for number in range(6):
        put(log, (f"k{number % 4}", str(number)))
    roll(log)
    put(log, ("z", "1"))
    done = log.compact(NOW_MS, keys_max=2)
    assert done is not None and done.end_offset == 2
    assert len(data_records(log)) == 7
    log.compact(NOW_MS)
    assert [offset for offset, _, _ in data_records(log)] == [2, 3, 4, 5, 6]


def test_a_run_may_end_inside_a_batch() -> None:
    log = compacted()
    put(log, ("a", "1"), ("b", "2"))
    put(log, ("a", "3"), ("b", "4"), ("c", "5"))
    roll(log)
    for keys_max, end_offset in ((1, 1), (3, 5)):
        done = log.compact(NOW_MS, keys_max=keys_max)
        assert done is not None and done.end_offset == end_offset


def test_an_empty_log_has_nothing_to_clean() -> None:
    assert compacted().compact(NOW_MS) is None
