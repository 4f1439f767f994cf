"""Batches of producers that a leader accepts, and the resulting producer state."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.partition_log import AppendOrigin, LogAppendError
from kmirror.log.producers import PRODUCER_EPOCH_MAX
from kmirror.spec.error_codes import ErrorCode
from tests.builders import NOW_MS, idempotent, marker, reset
from tests.unit.log.partitions import follow, lead, open_log, refused

SEQUENCE_MAX = 2**31 - 1


def test_sequence_numbers_must_follow() -> None:
    log = open_log()
    lead(log, idempotent(0, 3))
    assert refused(log, idempotent(4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refused(log, idempotent(2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    lead(log, idempotent(3))


def test_an_unknown_producer_may_begin_anywhere() -> None:
    assert lead(open_log(), idempotent(77)).first_offset == 0


def test_sequence_numbers_wrap_to_zero() -> None:
    log = open_log()
    lead(log, idempotent(SEQUENCE_MAX - 1, 2))
    lead(log, idempotent(0))
    assert log.producers.entries[1].last_sequence == 0


def test_a_batch_may_hold_the_wrap() -> None:
    log = open_log()
    lead(log, idempotent(SEQUENCE_MAX, 3))
    assert log.producers.entries[1].last_sequence == 1
    assert lead(log, idempotent(SEQUENCE_MAX, 3)).duplicate
    lead(log, idempotent(2))


def test_each_of_the_last_five_batches_is_known_again() -> None:
    log = open_log()
    for sequence in range(6):
        lead(log, idempotent(sequence))
    end = log.log_end_offset
    for sequence in range(1, 6):
        info = lead(log, idempotent(sequence))
        assert (info.duplicate, info.first_offset, info.last_offset, info.batches) == (
            True,
            sequence,
            sequence,
            0,
        )
    assert log.log_end_offset == end
    assert refused(log, idempotent(0)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_duplicate_has_the_same_epoch_and_span() -> None:
    log = open_log()
    lead(log, idempotent(0, 2))
    assert refused(log, idempotent(0, 1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert not lead(log, idempotent(0, 2, producer_epoch=1)).duplicate


def test_a_new_epoch_begins_at_zero_and_fences_the_old_one() -> None:
    log = open_log()
    lead(log, idempotent(5, producer_epoch=3))
    assert refused(log, idempotent(1, producer_epoch=4)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    lead(log, idempotent(0, producer_epoch=4))
    assert refused(log, idempotent(6, producer_epoch=3)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_a_higher_epoch_restarts_the_sequence() -> None:
    log = open_log()
    lead(log, idempotent(0, 2, txn=True))
    lead(log, marker(commit=True, producer_epoch=1), coordinator=True)
    assert log.producers.entries[1].last_sequence == -1
    assert refused(log, idempotent(2, producer_epoch=1, txn=True)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    lead(log, idempotent(0, producer_epoch=1, txn=True))


@pytest.mark.parametrize(("epoch", "version", "is_refused"), [(4, 1, False), (4, 2, True), (5, 2, False), (3, 2, True)])
def test_transactions_v2_end_with_the_next_epoch(epoch: int, version: int, is_refused: bool) -> None:
    log = open_log()
    lead(log, idempotent(0, producer_epoch=4, txn=True))
    for _ in range(2):  # A marker that is sent again is accepted again.
        end = marker(commit=True, producer_epoch=epoch)
        with pytest.raises(LogAppendError) if is_refused else nullcontext() as refused:
            log.append_as_leader(
                end, leader_epoch=0, now_ms=NOW_MS, origin=AppendOrigin.COORDINATOR, transaction_version=version
            )
        if refused is not None:
            assert refused.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    assert log.producers.entries[1].txn_first_offset == (0 if is_refused else -1)


def test_the_last_producer_epoch_cannot_be_bumped() -> None:
    log = open_log()
    lead(log, idempotent(0, producer_epoch=PRODUCER_EPOCH_MAX, txn=True))
    end = marker(commit=False, producer_epoch=PRODUCER_EPOCH_MAX)
    log.append_as_leader(end, leader_epoch=0, now_ms=NOW_MS, origin=AppendOrigin.COORDINATOR, transaction_version=2)
    assert log.producers.ongoing == {}


def test_a_marker_of_the_same_epoch_keeps_the_sequence() -> None:
    log = open_log()
    lead(log, idempotent(0, 2, txn=True))
    lead(log, marker(commit=True), coordinator=True)
    lead(log, idempotent(2, txn=True))


def test_an_open_transaction_admits_no_plain_batch() -> None:
    log = open_log()
    lead(log, idempotent(0, txn=True))
    assert refused(log, idempotent(1)) is ErrorCode.INVALID_TXN_STATE


def test_a_follower_fails_on_a_plain_batch_in_a_transaction() -> None:
    log = open_log()
    with pytest.raises(CorruptBatch, match="outside a transaction"):
        follow(log, idempotent(0, txn=True), idempotent(1, offset=1))
    assert log.log_end_offset == 0
    assert not log.producers.entries


def test_a_zombie_coordinator_is_fenced() -> None:
    log = open_log()
    lead(log, idempotent(0, txn=True))
    lead(log, marker(commit=True, coordinator_epoch=5), coordinator=True)
    fenced = refused(log, marker(commit=True, coordinator_epoch=4), coordinator=True)
    assert fenced is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_a_follower_accepts_the_leaders_batches() -> None:
    log = open_log()
    follow(
        log,
        idempotent(7, producer_epoch=4),
        idempotent(3, offset=1, producer_epoch=2),  # Neither in sequence nor of the latest epoch.
        marker(commit=True, producer_epoch=1, coordinator_epoch=-1, offset=2),
    )
    assert log.log_end_offset == 3


def test_the_coordinator_writes_without_sequence_numbers() -> None:
    log = open_log()
    lead(log, idempotent(-1, txn=True), coordinator=True)
    lead(log, idempotent(-1, txn=True), coordinator=True)
    assert log.producers.ongoing == {0: 1}
    assert refused(log, idempotent(-1)) is ErrorCode.INVALID_RECORD


def test_the_stable_offset_waits_for_the_marker_and_for_its_replication() -> None:
    log = open_log()
    lead(log, idempotent(0, txn=True))
    lead(log, idempotent(0, pid=2, txn=True))
    log.update_high_watermark(2)
    assert (log.last_stable_offset, log.first_unstable_offset) == (0, 0)
    lead(log, marker(commit=True), coordinator=True)
    assert log.last_stable_offset == 0
    log.update_high_watermark(3)
    assert log.last_stable_offset == 1
    lead(log, marker(pid=2, commit=False), coordinator=True)
    log.update_high_watermark(4)
    assert (log.last_stable_offset, log.first_unstable_offset) == (4, None)


def test_the_stable_offset_is_never_below_the_log_start() -> None:
    log = open_log()
    lead(log, idempotent(0, txn=True))
    lead(log, idempotent(0, pid=2))
    log.update_high_watermark(2)
    log.advance_log_start(1)
    assert log.last_stable_offset == 1


def test_aborted_transactions_are_listed_for_the_offsets_they_touch() -> None:
    log = open_log()
    lead(log, idempotent(0, txn=True))  # 0
    lead(log, idempotent(0, pid=2, txn=True))  # 1
    lead(log, marker(pid=2, commit=False), coordinator=True)  # 2
    lead(log, marker(commit=False), coordinator=True)  # 3
    lead(log, idempotent(1, txn=True))  # 4
    lead(log, marker(commit=True), coordinator=True)  # 5
    rows = [tuple(row) for row in log.aborted_transactions(0, 6)]
    assert rows == [(2, 1, 2, 0), (1, 0, 3, 4)]
    assert [row.producer_id for row in log.aborted_transactions(3, 6)] == [1]
    assert [row.producer_id for row in log.aborted_transactions(0, 1)] == [1]
    assert log.aborted_transactions(4, 6) == []


def test_a_marker_without_a_transaction_is_not_listed() -> None:
    log = open_log()
    lead(log, marker(commit=False), coordinator=True)
    assert log.aborted_transactions(0, 1) == []
    assert log.producers.entries[1].producer_epoch == 0


def test_silent_producers_expire_unless_a_transaction_is_open() -> None:
    log = open_log(producer_id_expiration_ms=1_000)
    lead(log, idempotent(0))
    lead(log, idempotent(0, pid=2, txn=True))
    newest = log.producers.entries[1].last_timestamp
    log.remove_expired_producers(newest + 999)
    assert sorted(log.producers.entries) == [1, 2]
    log.remove_expired_producers(newest + 1_000)
    assert sorted(log.producers.entries) == [2]
    assert lead(log, idempotent(9)).first_offset == 2, "an expired producer is an unknown one"


@pytest.mark.decision("D15")
@pytest.mark.kip("1279", "producer id reset")
def test_a_reset_forgets_every_producer_and_open_transaction() -> None:
    log = open_log()
    lead(log, idempotent(0))
    lead(log, idempotent(0, pid=2, txn=True))
    info = lead(log, reset(), coordinator=True)
    assert info.control_types == (7,)
    assert (log.producers.entries, log.producers.ongoing) == ({}, {})
    log.update_high_watermark(3)
    assert log.last_stable_offset == 3
    assert lead(log, idempotent(12, producer_epoch=9)).first_offset == 3
    assert refused(log, marker(pid=1, commit=True), coordinator=True) is ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.decision("D15")
def test_a_reset_must_be_replicated_before_the_stable_offset_passes() -> None:
    log = open_log()
    lead(log, idempotent(0, txn=True))
    lead(log, reset(), coordinator=True)
    log.update_high_watermark(1)
    assert log.last_stable_offset == 0
    log.update_high_watermark(2)
    assert log.last_stable_offset == 2


@pytest.mark.decision("D15")
def test_a_reset_in_the_middle_of_one_append_parts_it() -> None:
    log = open_log()
    follow(
        log,
        idempotent(0, txn=True),
        idempotent(0, pid=2, txn=True, offset=1),
        marker(commit=False, offset=2),
        reset(offset=3),
        idempotent(5, txn=True, offset=4),
    )
    assert log.producers.ongoing == {4: 1}
    assert [tuple(row) for row in log.aborted_transactions(0, 9)] == [(1, 0, 2, 1)]
    assert [entry.last_sequence for entry in log.producers.entries.values()] == [5]
    again = open_log(log.store)
    assert repr(again.producers.entries) == repr(log.producers.entries)
    assert again.producers.ongoing == log.producers.ongoing
