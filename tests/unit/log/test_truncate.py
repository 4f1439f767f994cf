"""A truncation removes whole batches, and all state of the log that belongs to them."""

from __future__ import annotations

import pytest

from kmirror.log.partition_log import CLEAN_SHUTDOWN, OffsetOutOfRange, PartitionLog
from kmirror.log.state_files import SNAPSHOT_SUFFIX, decode_snapshot, file_name
from tests.builders import NOW_MS, batch, idempotent, marker, reset, run
from tests.unit.log.partitions import content, follow, lead, open_log, spans


def filled_log(**config: int) -> PartitionLog:
    """Ten batches of two offsets, one epoch for each two batches, high watermark at the end."""
    log = open_log(**config)
    for number in range(10):
        follow(log, batch(2, offset=2 * number, epoch=number // 2))
    log.update_high_watermark(20)
    return log


@pytest.mark.parametrize("segment_bytes", [1 << 20, 300])
@pytest.mark.parametrize("offset", range(0, 20, 2))
def test_a_truncation_between_batches(offset: int, segment_bytes: int) -> None:
    log = filled_log(segment_bytes=segment_bytes)
    whole = content(log)
    assert log.truncate_to(offset)
    assert (log.log_end_offset, log.high_watermark, log.last_stable_offset) == (offset, offset, offset)
    assert content(log) == whole[: len(whole) * offset // 20]
    assert log.epochs.entries == [(epoch, 4 * epoch) for epoch in range(5) if 4 * epoch < offset]
    follow(log, batch(1, offset=offset, epoch=9))
    assert spans(log)[-1] == (offset, offset)
    again = open_log(log.store)
    assert (content(again), again.log_end_offset) == (content(log), offset + 1)


@pytest.mark.decision("D47")
def test_a_batch_across_the_truncation_offset_is_removed_completely() -> None:
    log = filled_log()
    assert log.end_after_cut(9) == 8
    assert log.truncate_to(9)
    assert spans(log) == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert (log.log_end_offset, log.high_watermark) == (8, 8)
    assert log.epochs.entries == [(0, 0), (1, 4)], "epoch 2 has no batch any more, so its number says nothing"
    assert lead(log, batch(), epoch=5).first_offset == 8
    again = open_log(log.store)
    assert (content(again), again.log_end_offset, again.epochs.entries) == (content(log), 9, log.epochs.entries)


@pytest.mark.decision("D47")
@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize(("cut", "end", "bases"), [(10, 10, [0, 10]), (6, 6, [0, 6]), (4, 4, [0]), (11, 10, [0, 10])])
def test_offsets_in_no_batch_are_not_assigned_again(cut: int, end: int, bases: list[int], closes: bool) -> None:
    """A consumer that has read up to the start of the batch after the gap must not miss the next records."""
    log = open_log()
    follow(log, batch(4), batch(2, offset=10))  # The offsets between the two were compacted.
    log.truncate_to(cut)
    assert (log.log_end_offset, log.segment_base_offsets) == (end, bases)
    if closes:
        log.close()
    again = open_log(log.store, recovery_point=CLEAN_SHUTDOWN if closes else 0)
    assert (again.log_end_offset, again.segment_base_offsets) == (end, bases)
    assert lead(again, batch()).first_offset == end


@pytest.mark.decision("D47")
@pytest.mark.parametrize("cut", [7, 8, 9])
def test_a_truncation_inside_the_batch_at_the_log_start_restarts_there(cut: int) -> None:
    log = open_log()
    follow(log, batch(5), batch(5, offset=5))
    log.update_high_watermark(10)
    log.advance_log_start(7)
    assert log.end_after_cut(cut) == 7
    assert log.truncate_to(cut)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (7, 7, 7)
    again = open_log(log.store)
    assert (again.log_start_offset, again.log_end_offset, again.segment_base_offsets) == (7, 7, [7])


@pytest.mark.decision("D47")
def test_records_truncated_inside_a_batch_are_fetched_again_from_the_leader() -> None:
    """With other batches in one epoch, the records between the truncation and the batch before it were lost."""
    leader, follower = open_log(), open_log()
    follow(leader, batch(5), batch(2, offset=5), batch(3, offset=7, epoch=1))
    follow(follower, batch(5), batch(5, offset=5))
    epoch, end = leader.end_offset_for_epoch(0)
    assert (epoch, end) == (0, 7)
    follower.truncate_to(end)
    answer = leader.read(follower.log_end_offset, max_bytes=1 << 20, end_offset=leader.log_end_offset)
    follow(follower, bytes(answer.records))
    assert content(follower) == content(leader)


def test_nothing_to_truncate() -> None:
    log = filled_log()
    before = repr(log)
    assert not log.truncate_to(20)
    assert not log.truncate_to(25)
    assert repr(log) == before


def test_an_epoch_without_records_is_removed_even_if_nothing_is_truncated() -> None:
    log = filled_log()
    log.assign_epoch_start(8)
    assert not log.truncate_to(20)
    assert log.latest_epoch == 4


def test_the_high_watermark_stays_below_the_truncation() -> None:
    log = filled_log()
    log.update_high_watermark(4)
    log.truncate_to(10)
    assert log.high_watermark == 4


def test_a_truncation_below_the_log_start_lowers_it() -> None:
    log = filled_log()
    log.advance_log_start(12)
    log.truncate_to(8)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (8, 8, 8)


def test_a_truncation_below_the_first_segment_restarts_there() -> None:
    log = open_log()
    log.truncate_fully_and_start_at(100)
    follow(log, *run(3, start=100))
    log.truncate_to(40)
    assert (log.log_start_offset, log.log_end_offset, log.segment_base_offsets) == (40, 40, [40])
    assert log.size_in_bytes == 0
    assert log.epochs.entries == []
    follow(log, batch(1, offset=40))
    assert open_log(log.store).log_end_offset == 41


@pytest.mark.decision("D11")
def test_a_log_is_truncated_completely_and_starts_elsewhere() -> None:
    log = filled_log(segment_bytes=300, flush_messages=1)
    log.truncate_fully_and_start_at(57)
    assert (log.log_start_offset, log.high_watermark, log.log_end_offset) == (57, 57, 57)
    assert log.recovery_point < 57 and not log.is_flush_due, "nothing below the start waits to be flushed"
    assert (log.segment_base_offsets, log.store.segments()) == ([57], [57])
    assert (log.epochs.entries, content(log)) == ([], b"")
    follow(log, batch(1, offset=57, epoch=3))
    assert log.epochs.entries == [(3, 57)]
    assert log.is_flush_due


def test_a_truncation_reverts_producers_and_transactions() -> None:
    log = open_log()
    lead(log, idempotent(0, txn=True))  # 0
    lead(log, idempotent(0, pid=2))  # 1
    lead(log, marker(commit=False), coordinator=True)  # 2
    lead(log, idempotent(1, pid=2))  # 3
    log.update_high_watermark(4)
    assert log.last_stable_offset == 4
    log.truncate_to(2)
    assert log.producers.ongoing == {0: 1}
    assert log.last_stable_offset == 0
    assert log.aborted_transactions(0, 9) == []
    assert log.producers.entries[2].last_sequence == 0
    lead(log, idempotent(1, pid=2))
    lead(log, marker(commit=True), coordinator=True)
    log.update_high_watermark(4)
    assert log.last_stable_offset == 4


@pytest.mark.decision("D15")
def test_a_truncation_below_a_reset_restores_the_producers() -> None:
    log = open_log()
    lead(log, idempotent(0, 2))
    lead(log, reset(), coordinator=True)
    lead(log, idempotent(7, pid=3))
    log.truncate_to(3)
    assert log.producers.entries == {}
    log.truncate_to(2)
    assert log.producers.entries[1].last_sequence == 1
    assert lead(log, idempotent(0, 2)).duplicate


@pytest.mark.parametrize("rolls", [False, True])
def test_a_truncation_reopens_a_transaction_of_an_expired_producer(rolls: bool) -> None:
    log = open_log()
    follow(log, idempotent(0, txn=True))
    if rolls:
        log.roll(log.log_end_offset)
    follow(log, marker(commit=False, offset=1), batch(1, offset=2))
    log.update_high_watermark(3)
    log.remove_expired_producers(NOW_MS + log.config.producer_id_expiration_ms)
    assert log.producers.entries == {}
    log.truncate_to(1)
    assert log.producers.ongoing == {0: 1} and log.last_stable_offset == 0
    follow(log, marker(commit=False, offset=1))
    assert [row.first_offset for row in log.aborted_transactions(0, 9)] == [0]


def test_a_table_reduced_by_a_truncation_keeps_the_order_of_its_rows() -> None:
    log = open_log()
    for offset, pid in enumerate([1, 16, *range(100, 120)]):
        follow(log, idempotent(0, pid=pid, offset=offset))
    log.truncate_to(2)
    follow(log, batch(1, offset=2))
    log.close()
    for offset in (2, 3):  # At the truncation, and after it.
        rows = decode_snapshot(log.store.read_file(file_name(offset, SNAPSHOT_SUFFIX)) or b"")
        # In a map of 16 buckets 16 would come before 1.
        assert [entry.producer_id for entry in rows] == [1, 16]


def test_aborted_transactions_above_the_truncation_are_removed_in_every_segment() -> None:
    log = open_log(segment_bytes=200)
    for number in range(6):
        lead(log, idempotent(number, txn=True))
        lead(log, marker(commit=False), coordinator=True)
    assert len(log.segment_base_offsets) > 3
    for end in (11, 8, 7, 2):
        log.truncate_to(end)
        assert [row.last_offset for row in log.aborted_transactions(0, 99)] == list(range(1, end, 2))


def test_an_emptied_segment_is_as_young_as_the_truncation() -> None:
    log = open_log(segment_ms=1_000)
    for offset, now_ms in ((0, NOW_MS), (1, NOW_MS + 900)):
        log.append_as_follower(batch(1, offset=offset, timestamp=-1), max_epoch=0, now_ms=now_ms)
    log.truncate_to(0)
    for offset in (0, 1):
        log.append_as_follower(batch(1, offset=offset, timestamp=-1), max_epoch=0, now_ms=NOW_MS + 1_800)
    assert log.segment_base_offsets == [0]


def test_an_empty_segment_is_as_young_as_the_truncation_too() -> None:
    log = open_log(segment_bytes=100, segment_ms=1_000)
    lead(log, idempotent(0, timestamp=-1))
    lead(log, idempotent(0, timestamp=-1))  # A duplicate, for which the log was rolled in vain.
    follow(log, batch(offset=1 << 32, timestamp=-1))
    assert log.segment_base_offsets == [0, 1, 1 << 32]
    log.config, log.now_ms = open_log(segment_ms=1_000).config, NOW_MS + 2_000
    log.truncate_to(1)
    for offset in (1, 2):
        log.append_as_follower(batch(offset=offset, timestamp=-1), max_epoch=0, now_ms=NOW_MS + 3_000)
    assert log.segment_base_offsets == [0, 1]


def test_the_index_is_truncated_with_the_log() -> None:
    log = open_log(index_interval_bytes=0)
    follow(log, *run(50))
    log.truncate_to(20)
    follow(log, *run(30, start=20, size=100))
    for offset in range(50):
        assert log.read(offset, max_bytes=1, end_offset=50).start_offset == offset


@pytest.mark.parametrize("offset", [0, 5, 20])
def test_the_log_start_advances_up_to_the_high_watermark(offset: int) -> None:
    log = filled_log()
    assert log.advance_log_start(offset) == (offset > 0)
    assert log.log_start_offset == offset
    assert not log.advance_log_start(offset)
    first = next((entry for entry in log.epochs.entries), None)
    assert first is not None and first.start_offset == offset


def test_the_log_start_never_passes_the_high_watermark() -> None:
    log = filled_log()
    log.update_high_watermark(6)
    with pytest.raises(OffsetOutOfRange):
        log.advance_log_start(7)
    assert log.log_start_offset == 0


@pytest.mark.parametrize(("asked", "got"), [(-5, 4), (0, 4), (4, 4), (11, 11), (20, 20), (99, 20)])
def test_the_high_watermark_lies_between_start_and_end(asked: int, got: int) -> None:
    log = filled_log()
    log.advance_log_start(4)
    assert log.update_high_watermark(asked) == got
    assert log.high_watermark == got


def test_a_segment_that_starts_at_the_truncation_offset_stays_empty() -> None:
    log = filled_log(segment_bytes=300)
    base = log.segment_base_offsets[1]
    log.truncate_to(base)
    assert log.segment_base_offsets == [0, base]
    assert log.store.size(base) == 0


@pytest.mark.parametrize("closes", [False, True], ids=["rows in memory", "rows in files"])
def test_index_files_of_a_truncated_segment_equal_those_of_a_shorter_log(closes: bool) -> None:
    names = [file_name(0, suffix) for suffix in (".index", ".timeindex")]
    cut, short = (open_log(index_interval_bytes=0, segment_bytes=1200) for _ in range(2))
    for number in range(12):
        for log in (cut, short) if number < 4 else (cut,):
            at = NOW_MS + number
            follow(log, idempotent(number, txn=True, offset=2 * number, timestamp=at))
            follow(log, marker(commit=number < 4, offset=2 * number + 1))
    assert len(cut.segment_base_offsets) > 1
    if closes:
        cut.close()
        cut = open_log(cut.store, recovery_point=CLEAN_SHUTDOWN, index_interval_bytes=0, segment_bytes=1200)
    cut.truncate_to(8)
    for log in (cut, short):
        log.close()
    assert [cut.store.read_file(name) for name in names] == [short.store.read_file(name) for name in names]
    assert cut.store.read_file(file_name(0, ".txnindex")) == b"", "the rows go, the file stays"
    assert short.store.read_file(file_name(0, ".txnindex")) is None
    assert open_log(cut.store, recovery_point=CLEAN_SHUTDOWN).aborted_transactions(0, 99) == []


def test_a_snapshot_of_truncated_records_is_not_used_for_later_ones() -> None:
    for cut_everything in (True, False):
        log = open_log()
        for sequence in range(9):
            lead(log, idempotent(sequence))
        log.close()  # Leaves a snapshot at 9.
        log = open_log(log.store)
        if cut_everything:
            log.truncate_fully_and_start_at(2)
        else:
            log.truncate_to(2)
        for sequence in range(20):
            lead(log, idempotent(sequence, pid=7))
        again = open_log(log.store)
        assert again.producers.entries[7].last_sequence == 19
        assert sorted(again.producers.entries) == ([7] if cut_everything else [1, 7])
        assert cut_everything or again.producers.entries[1].last_sequence == 1
