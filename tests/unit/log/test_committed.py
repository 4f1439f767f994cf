"""Committed records where the log alone is not enough: snapshots, cleaned logs, empty markers."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kmirror.errors import CorruptBatch
from kmirror.log.committed import Committed, CommittedWalk
from kmirror.records.batch import Batch
from kmirror.records.build import build_batch
from kmirror.records.control import ControlType, control_batch
from kmirror.records.legacy import LegacyBatch, build_message
from kmirror.records.record import RecordData
from tests.builders import batch, idempotent, marker, reset


def data(offset: int, pid: int = 1) -> bytes:
    return idempotent(0, pid=pid, txn=True, offset=offset)


def walk_over(
    *batches: bytes, end: int, snapshots: Mapping[int, Mapping[int, int] | None] | None = None, cleaned_offset: int = 0
) -> Committed:
    """Walk over batches; `snapshots` maps offsets to the open transactions there, None if unreadable."""
    known = snapshots or {}
    walk = CommittedWalk(sorted(known), known.__getitem__, cleaned_offset=cleaned_offset)
    for found in batches:
        walk.add(Batch(found))
    return walk.finish(end)


def test_overlapping_transactions_end_with_their_own_markers() -> None:
    found = walk_over(data(0), data(1, 2), marker(offset=2, commit=False), data(3), data(4, 2), end=5)
    assert found == Committed({1: [(0, 2)]}, 1)
    assert [found.hides(Batch(data(offset))) for offset in (0, 3)] == [True, True]
    ends = (marker(offset=2, commit=False), marker(offset=3, pid=2, commit=True))
    decided = walk_over(data(0), data(1, 2), *ends, end=4)
    assert [decided.hides(Batch(one)) for one in (data(0), data(1, 2), data(3), batch(offset=0))] == [
        True, False, False, False,
    ]  # fmt: skip


@pytest.mark.decision("D15")
def test_a_producer_reset_ends_all_transactions_and_aborts_none() -> None:
    found = walk_over(data(0), data(1, 2), reset(offset=2), marker(offset=3, commit=False), data(4), end=5)
    assert found == Committed({}, 4)


def test_markers_without_data_and_other_control_records_decide_nothing() -> None:
    change = control_batch(ControlType.LEADER_CHANGE, b"", base_offset=1, leader_epoch=0, timestamp_ms=0)
    assert walk_over(data(0), change, marker(offset=2, pid=9, commit=False), end=3) == Committed({}, 0)


def test_an_emptied_marker_has_committed() -> None:
    """The cleaner keeps the empty last batch of a producer."""
    producer = {"producer_id": 1, "producer_epoch": 0, "is_transactional": True}
    empty = build_batch([], base_offset=1, last_offset_delta=0, is_control=True, **producer)  # type: ignore[arg-type]
    assert walk_over(data(0), empty, data(2, 2), end=3) == Committed({}, 2)


def test_a_marker_removed_by_the_cleaner_leaves_no_transaction_open() -> None:
    assert walk_over(data(0), data(10, 2), end=11, snapshots={10: {}}) == Committed({}, 10)
    assert walk_over(data(0), end=10, snapshots={10: {}}) == Committed()
    assert walk_over(data(0), end=9, snapshots={10: {}}) == Committed({}, 0)
    assert walk_over(data(0), data(10, 2), end=11, cleaned_offset=10) == Committed({}, 10)


def test_committed_records_are_not_part_of_the_producers_next_transaction() -> None:
    batches = (data(0), data(12), data(13))
    for hints in ({"snapshots": {10: {}}}, {"cleaned_offset": 10}):
        assert walk_over(*batches, end=14, **hints) == Committed({}, 12)  # type: ignore[arg-type]
    aborted = walk_over(*batches, marker(offset=14, commit=False), end=15, snapshots={10: {}})
    assert aborted == Committed({1: [(12, 14)]})


def test_a_transaction_across_the_cleaners_checkpoint_is_aborted_as_a_whole() -> None:
    found = walk_over(data(8), data(12), marker(offset=13, commit=False), data(14), end=15, cleaned_offset=10)
    assert found == Committed({1: [(8, 13)]}, 14)


def test_the_log_may_begin_inside_a_transaction() -> None:
    assert walk_over(batch(offset=20), end=21, snapshots={20: {7: 5}}) == Committed({}, 5)
    ended = walk_over(data(20), marker(offset=21, commit=False), end=22, snapshots={20: {1: 5}})
    assert ended == Committed({1: [(5, 21)]})


def test_an_unreadable_snapshot_is_ignored() -> None:
    assert walk_over(data(0), data(10, 2), end=11, snapshots={5: {}, 10: None}) == Committed({}, 10)
    assert walk_over(data(0), data(10, 2), end=11, snapshots={10: None}) == Committed({}, 0)


def test_old_messages_are_committed_and_a_broken_control_record_is_an_error() -> None:
    walk = CommittedWalk()
    message = LegacyBatch(build_message(RecordData(b"k", b"v"), magic=1, offset=0, attributes=0x30))
    walk.add(message)
    broken = build_batch([RecordData(b"\x00")], base_offset=1, is_control=True)
    with pytest.raises(CorruptBatch, match="a control key has 4 bytes"):
        walk.add(Batch(broken))
    assert walk.finish(2) == Committed()
    assert not walk.finish(2).hides(message)


def test_transactions_touching_a_range_are_found_at_both_ends() -> None:
    whole = Committed({1: [(0, 2), (5, 9)], 2: [(3, 4)]}, 12)
    assert whole.between(2, 5) == Committed({1: [(0, 2)], 2: [(3, 4)]}, 12)
    assert whole.between(3, 6) == Committed({1: [(5, 9)], 2: [(3, 4)]}, 12)
    assert whole.between(10, None) == Committed({}, 12)
