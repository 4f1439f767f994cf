"""Fetches from a log with the leader epochs of another cluster: a fetch with a later epoch gets a divergence (D13)."""

from __future__ import annotations

import pytest

from kmirror.cluster.replication.truncation import truncation_point
from kmirror.kernel.ids import TopicPartition
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import LogConfig, PartitionLog, UnexpectedAppendOffset
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.unit.cluster.replication.legacy_logs import converge, fetch

TP = TopicPartition("t", 0)


def log(*batches: tuple[int, int, int]) -> PartitionLog:
    """Return a log of batches (base offset, leader epoch, record count)."""
    made = PartitionLog.open(TP, MemoryStore(), LogConfig(), now_ms=0)
    for offset, epoch, count in batches:
        rows = [RecordData(value=b"v")] * count
        made.append_as_follower(build_batch(rows, base_offset=offset, partition_leader_epoch=epoch), max_epoch=99)
    return made


@pytest.mark.parametrize("replica", [2, -1])
def test_a_replica_with_a_later_epoch_gets_its_truncation_offset(replica: int) -> None:
    # The follower was offline while the leader truncated epoch 9 and continued mirroring in epoch 6.
    leader, away = log((0, 5, 40), (40, 6, 100)), log((0, 5, 50), (50, 9, 30))
    for _ in range(2):
        data = fetch(leader, away.log_end_offset, away.latest_epoch, foreign=True, replica=replica)
        assert data.error_code == ErrorCode.NONE and data.diverging_epoch.epoch != -1
        away.truncate_to(truncation_point(away, data.diverging_epoch.epoch, data.diverging_epoch.end_offset).offset)
    assert away.log_end_offset <= 40
    data = fetch(leader, away.log_end_offset, away.latest_epoch, foreign=True, replica=replica)
    assert data.diverging_epoch.epoch == -1 and data.error_code == ErrorCode.NONE


def test_in_a_log_of_this_cluster_a_later_epoch_is_out_of_range() -> None:
    assert fetch(log((0, 5, 40)), 10, 9, foreign=False).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_below_the_log_start_out_of_range_precedes_the_divergence() -> None:
    leader = log((0, 2, 40), (40, 5, 40))
    leader.update_high_watermark(80)
    leader.advance_log_start(30)
    assert fetch(leader, 10, 3, foreign=False).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert fetch(leader, 35, 3, foreign=False).diverging_epoch.epoch == 2


def test_a_replica_as_long_as_an_emptied_mirrored_log_gets_its_start() -> None:
    emptied = log((0, 5, 40))
    emptied.update_high_watermark(40)
    emptied.config = LogConfig(retention_ms=1)
    emptied.set_aside_old_segments(2**50)
    assert emptied.epochs.entries == [(5, 40)]
    leader = PartitionLog.open(TP, emptied.store, LogConfig(), now_ms=0)
    assert (leader.log_start_offset, leader.log_end_offset, leader.latest_epoch) == (40, 40, -1)
    data = fetch(leader, 40, 5, foreign=True)
    assert (data.error_code, data.diverging_epoch.epoch, data.log_start_offset) == (ErrorCode.NONE, -1, 40)
    for offset in (39, 41):
        assert fetch(leader, offset, 5, foreign=True).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


@pytest.mark.parametrize("foreign", [False, True])
def test_a_replica_with_more_of_the_latest_epoch_gets_the_end_of_that_epoch(foreign: bool) -> None:
    leader = log((0, 5, 40), (40, 6, 10))
    data = fetch(leader, 60, 6, foreign=foreign)
    assert (data.error_code, data.diverging_epoch.epoch, data.diverging_epoch.end_offset) == (0, 6, 50)


def two_histories(count: int) -> tuple[PartitionLog, PartitionLog]:
    """Return a leader with batches of two, whose epoch 1 ends at 10, and a replica with more records of epoch 1."""
    leader = log(*((offset, 1 if offset < 10 else 3, 2) for offset in range(0, 20, 2)))
    return leader, log(*((offset, 1, count) for offset in range(0, 24, count)))


@pytest.mark.decision("D47")
@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize("count", [4, 6, 8, 12])
def test_a_replica_truncated_inside_a_batch_has_no_hole(count: int, foreign: bool) -> None:
    leader, away = two_histories(count)
    converge(leader, away, foreign=foreign)
    held = [offset for batch in away.batches() for offset in range(batch.base_offset, batch.last_offset + 1)]
    assert held == list(range(20))
    again = PartitionLog.open(TP, away.store, LogConfig(), now_ms=0)
    assert (again.log_end_offset, again.epochs.entries) == (20, away.epochs.entries)


@pytest.mark.decision("D47")
@pytest.mark.parametrize("count", [3, 7])
def test_a_log_that_ends_inside_a_batch_of_the_leader_is_refused(count: int) -> None:
    leader, away = two_histories(count)
    with pytest.raises(UnexpectedAppendOffset, match="batches start at offset"):
        converge(leader, away, foreign=True)
