"""Random sequences of steps after which the JVM's log and kmirror's once differed, each shrunk to its minimum.

tests/interop/sequences draws them. The expected values are those of the JVM's log, of Apache Kafka 4.3.1.
"""

from __future__ import annotations

import pytest

from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import CLEAN_SHUTDOWN, LogAppendError
from kmirror.log.producer_files import snapshot_offsets
from kmirror.log.state_files import SNAPSHOT_SUFFIX, decode_snapshot, encode_snapshot, file_name
from kmirror.log.store import LEADER_EPOCH_CHECKPOINT, PartitionStore
from kmirror.spec.error_codes import ErrorCode
from tests.builders import NOW_MS, batch, idempotent, marker, run
from tests.unit.log.partitions import content, follow, lead, open_log


def test_the_batch_across_the_log_start_restarts_indexes_and_epochs() -> None:
    """The log was emptied by its log start alone, so its segment still had bytes, and the epoch was its own."""
    log = open_log(index_interval_bytes=0)
    follow(log, *run(3, epoch=2), max_epoch=2)
    log.update_high_watermark(3)
    log.advance_log_start(3)
    straddling = [batch(2, offset=2, epoch=2), *run(2, start=4, epoch=2)]
    follow(log, *straddling, max_epoch=2)
    assert (log.log_start_offset, log.log_end_offset, log.epochs.entries) == (3, 6, [(2, 2)])
    assert content(log) == b"".join(straddling)
    assert list(log.segments[0].offsets.positions) == [len(straddling[0]), len(straddling[0]) + len(straddling[1])]


def test_batches_too_far_apart_for_one_segment_are_separated() -> None:
    log = open_log()
    assert follow(log, batch(offset=30), batch(2, offset=1 << 40)).last_offset == (1 << 40) + 1
    assert log.segment_base_offsets == [0, 1 << 40]
    store = log.store
    log.close()
    assert open_log(store, recovery_point=CLEAN_SHUTDOWN).log_end_offset == (1 << 40) + 2


@pytest.mark.parametrize(
    ("data", "config", "error"),
    [
        (idempotent(7), {}, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER),
        (batch(9), {"segment_bytes": 200}, ErrorCode.RECORD_LIST_TOO_LARGE),
    ],
)
def test_a_refused_append_has_begun_its_epoch(data: bytes, config: dict[str, int], error: ErrorCode) -> None:
    log = open_log(**config)
    lead(log, idempotent(0), epoch=1)
    with pytest.raises(LogAppendError) as refused:
        lead(log, data, epoch=3)
    assert (refused.value.code, log.log_end_offset, log.epochs.entries) == (error, 1, [(1, 0), (3, 1)])


def test_data_below_the_log_start_or_a_new_segment_needs_no_recovery() -> None:
    log = open_log(segment_bytes=200)
    lead(log, batch())
    log.update_high_watermark(1)
    assert (log.advance_log_start(1), log.recovery_point) == (True, 1)
    follow(log, batch(offset=5, size=100))
    assert (log.segment_base_offsets, log.recovery_point) == ([0, 5], 5)
    log.truncate_fully_and_start_at(9)
    assert open_log(log.store, repair=True).recovery_point == 9


def test_the_epochs_are_written_down_when_the_log_start_rises() -> None:
    log = open_log()
    follow(log, batch(2, epoch=1), batch(2, offset=2, epoch=2))
    log.update_high_watermark(4)
    log.advance_log_start(3)
    assert log.store.read_file(LEADER_EPOCH_CHECKPOINT) == b"0\n1\n2 3\n"


def test_a_log_that_its_log_start_emptied_is_closed_without_a_snapshot() -> None:
    log = open_log()
    lead(log, idempotent(0))
    log.update_high_watermark(1)
    log.advance_log_start(1)
    log.close()
    assert snapshot_offsets(log.store) == []


def test_the_stable_offset_of_a_transaction_from_below_the_log_start_is_where_the_next_batch_begins() -> None:
    log = open_log()
    follow(log, idempotent(0, txn=True), batch(offset=30), batch(offset=40))
    log.update_high_watermark(41)
    log.advance_log_start(7)
    assert (log.log_start_offset, log.last_stable_offset) == (7, 30)
    log.truncate_to(20)
    log.update_high_watermark(20)
    assert log.last_stable_offset == 20


def test_the_size_of_the_indexes_is_that_of_when_the_segment_began() -> None:
    log = open_log(index_interval_bytes=0)
    small = open_log(segment_index_bytes=24).config
    for number in range(6):
        lead(log, batch())
        log.config = small
        assert log.segment_base_offsets == [0], number


def test_a_truncation_does_not_restore_forgotten_producers() -> None:
    log = open_log()
    lead(log, idempotent(0))
    lead(log, batch())
    log.close()
    for offset in snapshot_offsets(log.store):
        log.store.delete_file(file_name(offset, SNAPSHOT_SUFFIX))
    again = open_log(log.store, recovery_point=CLEAN_SHUTDOWN)
    again.truncate_to(1)
    assert again.producers.entries == {}


def test_producers_of_one_append_enter_the_table_last_one_first_and_in_a_recovery_in_order() -> None:
    """5 and 21 share a bucket, so a snapshot shows which of them came first."""
    log = open_log()
    follow(log, idempotent(0, pid=5), idempotent(0, pid=21, offset=1))
    log.close()
    assert _ids_in_snapshot(log.store, 2) == [21, 5]
    crashed = MemoryStore.from_files({0: content(log)}, {})
    open_log(crashed, repair=True)
    assert _ids_in_snapshot(crashed, 2) == [5, 21]


def test_a_producer_whose_epoch_fell_and_rose_keeps_its_earlier_batches_only_in_one_append() -> None:
    """It was forgotten in between, so a lower epoch was accepted. A recovery works batch by batch."""
    first = idempotent(0, pid=5, producer_epoch=1)
    back = idempotent(0, pid=5, offset=1, txn=True) + marker(pid=5, producer_epoch=1, commit=True, offset=2)
    log = open_log()
    follow(log, first)
    follow(log, back)
    assert [known.last_offset for known in log.producers.entries[5].batches] == [0]
    crashed = MemoryStore.from_files({0: first, 1: back}, {})
    assert open_log(crashed, repair=True).producers.entries[5].batches == []


def _ids_in_snapshot(store: PartitionStore, offset: int) -> list[int]:
    data = store.read_file(file_name(offset, SNAPSHOT_SUFFIX))
    assert data is not None
    return [entry.producer_id for entry in decode_snapshot(data)]


def test_a_recovery_writes_snapshots_only_for_the_logs_own_last_segments() -> None:
    log = open_log(segment_bytes=100)
    follow(log, *[idempotent(number, offset=number) for number in range(4)])
    crashed = MemoryStore.from_files({base: bytes(log.store.view(base)) for base in log.segment_base_offsets}, {})
    for segment in log.segments[:3]:
        for name in log.store.files():
            if name.startswith(f"{segment.base_offset:020}") and not name.endswith(SNAPSHOT_SUFFIX):
                crashed.write_file(name, log.store.read_file(name) or b"")
    open_log(crashed, repair=True, recovery_point=3)
    assert snapshot_offsets(crashed) == [2, 3, 4]


def test_the_cleaner_s_lag_in_a_log_of_one_segment() -> None:
    assert open_log(compact=True, delete=False, min_compaction_lag_ms=1).compact(NOW_MS) is None


def test_a_segment_without_timestamps_is_as_young_as_its_truncation() -> None:
    log = open_log(retention_ms=1_000)
    follow(log, batch(timestamp=-1), batch(offset=1, timestamp=-1))
    log.now_ms = NOW_MS + 2_000
    log.truncate_to(1)
    log.update_high_watermark(1)
    assert log.delete_old_segments(NOW_MS + 3_000) == 0
    assert log.delete_old_segments(NOW_MS + 3_001) == 1


def test_a_log_ending_below_its_start_restarts_with_an_empty_snapshot() -> None:
    """The state after a broker truncates inside the only batch: closed at offset 3, it ends at 0 when it is opened."""
    log = open_log()
    follow(log, idempotent(0, 4))
    log.update_high_watermark(4)
    log.advance_log_start(1)
    log.close()
    log.store.truncate(0, 0)
    log.store.write_file(file_name(3, SNAPSHOT_SUFFIX), encode_snapshot([]))
    log.store.delete_file(file_name(4, SNAPSHOT_SUFFIX))
    again = open_log(log.store, recovery_point=CLEAN_SHUTDOWN)
    assert (again.segment_base_offsets, snapshot_offsets(log.store)) == ([1], [1])
    assert _ids_in_snapshot(log.store, 1) == []


def test_a_segment_whose_one_timestamp_is_0_has_a_row_of_zeros() -> None:
    log = open_log()
    lead(log, batch(timestamp=0))
    log.close()
    again = open_log(log.store, recovery_point=CLEAN_SHUTDOWN)
    assert (list(again.segments[0].times.timestamps), again.segments[0].max_timestamp) == ([0], 0)
