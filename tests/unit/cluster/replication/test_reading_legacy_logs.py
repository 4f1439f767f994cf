"""Fetches from logs that begin with messages without epochs: they count as epoch 0 (D28)."""

from __future__ import annotations

import pytest

from kmirror.cluster.replication.truncation import end_of_epoch, last_epoch
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import LogConfig, PartitionLog
from kmirror.records.build import build_batch
from kmirror.records.codecs import Compression
from kmirror.records.legacy import build_message_set
from kmirror.records.record import RecordData
from kmirror.spec.error_codes import ErrorCode
from tests.unit.cluster.replication.legacy_logs import TP, Run, contents, converge, fetch, log

pytestmark = pytest.mark.decision("D28")


@pytest.mark.parametrize(
    ("runs", "epoch"),
    [
        ([], -1),
        ([(None, 4)], 0),
        ([(None, 4), (3, 6)], 3),
        ([(3, 4), (None, 6)], 0),  # The topic returned to an old format: the epochs before are forgotten.
    ],
)
def test_messages_without_epoch_count_as_epoch_0(runs: list[Run], epoch: int) -> None:
    assert last_epoch(log(*runs)) == epoch


def test_the_last_batch_supplies_an_epoch_missing_in_the_cache() -> None:
    made = log((3, 4), (None, 8))
    made.truncate_to(4)
    assert made.epochs.entries == []
    assert last_epoch(made) == 3
    made = log((None, 8), codec=Compression.GZIP)
    made.truncate_to(5)  # Inside a wrapper: the whole wrapper is removed, and the log ends at its start (D47).
    assert (made.log_end_offset, last_epoch(made)) == (4, 0)
    made.truncate_to(0)
    assert last_epoch(made) == -1


def test_an_emptied_log_names_no_epoch() -> None:
    made = log((None, 8))
    made.update_high_watermark(8)
    made.advance_log_start(8)
    assert last_epoch(made) == -1


@pytest.mark.parametrize(
    ("runs", "epoch", "offset", "answer"),
    [
        ([(None, 8)], 0, 6, (0, 8)),  # Only old messages: the follower lags, or has caught up.
        ([(None, 8)], 0, 8, (0, 8)),
        ([(None, 8)], 0, 12, (0, 8)),  # The follower has more messages.
        ([(None, 8)], 5, 12, (0, 8)),  # The follower has batches above: truncate to the end of its old messages.
        ([(None, 8)], 5, 6, (0, 6)),  # The follower has batches where the leader has messages.
        ([(None, 8), (4, 12)], 0, 6, (0, 8)),
        ([(None, 8), (4, 12)], 0, 12, (0, 8)),
        ([(None, 8), (4, 12)], 2, 6, (0, 6)),
        ([(None, 8), (4, 12)], 2, 12, (0, 8)),
        ([(None, 8), (4, 12)], 4, 10, (4, 12)),  # The epoch cache contains it.
        ([(None, 8), (4, 12)], 5, 10, (-1, -1)),
        ([(3, 4), (None, 8), (5, 12)], 3, 2, (3, 8)),  # Not in the cache any more; both have the same batch.
        ([(3, 4), (None, 8), (5, 12)], 2, 2, (2, 0)),
        ([(3, 4), (None, 8), (5, 12)], 4, 2, (3, 2)),
        ([(3, 4), (None, 8), (5, 12)], 0, 2, (0, 0)),  # Nothing in common: truncate everything.
        ([(4, 12)], 2, 0, (2, 0)),  # Without old messages the result is the cache's.
        ([], 0, 0, (-1, -1)),
    ],
)
def test_where_an_epoch_ends(runs: list[Run], epoch: int, offset: int, answer: tuple[int, int]) -> None:
    assert end_of_epoch(log(*runs), epoch, offset) == answer


def test_a_gap_at_the_beginning_is_no_old_message() -> None:
    made = PartitionLog.open(TP, MemoryStore(), LogConfig(), now_ms=0)
    made.append_as_follower(build_batch([RecordData(value=b"v")], base_offset=6, partition_leader_epoch=4), max_epoch=9)
    assert made.epochs.entries == [(4, 6)]
    for offset in (2, 6):
        assert end_of_epoch(made, 2, offset) == tuple(made.end_offset_for_epoch(2)) == (2, 6)


def test_an_unreadable_batch_does_not_stop_the_response() -> None:
    store = MemoryStore()
    made = PartitionLog.open(TP, store, LogConfig(), now_ms=0)
    made.append_as_follower(build_message_set([RecordData(value=b"v")] * 4, magic=1), max_epoch=9)
    data = bytearray(store.view(0))
    data[16::36] = b"\7" * len(data[16::36])  # A format that does not exist.
    store.truncate(0, 0)
    store.append(0, bytes(data))
    assert last_epoch(made) == 0
    assert end_of_epoch(made, 0, 2) == (0, 4)


@pytest.mark.parametrize("foreign", [False, True])
def test_a_follower_with_the_same_messages_is_served(foreign: bool) -> None:
    leader = log((None, 8))
    if not foreign:
        leader.assign_epoch_start(20)
    data = fetch(leader, 4, 0, foreign=foreign)
    assert data.error_code == ErrorCode.NONE and data.diverging_epoch.epoch == -1
    assert bytes(data.records or b"") == b"".join(contents(leader, 4))


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP])
@pytest.mark.parametrize("foreign", [False, True])
@pytest.mark.parametrize(
    ("leader_runs", "follower_runs", "common"),
    [
        ([(None, 8)], [(None, 14)], 8),
        ([(None, 8), (4, 20)], [(None, 14)], 8),
        ([(None, 8), (4, 20)], [(None, 14), (3, 18)], 8),
        ([(None, 14), (4, 20)], [(None, 8), (3, 18)], 8),
        ([(None, 14)], [(None, 8), (3, 18)], 8),
        ([(None, 14)], [(None, 8), (3, 12)], 8),
        ([(None, 8), (4, 20)], [(None, 8), (4, 10), (6, 30)], 10),
        ([(3, 4), (None, 8), (5, 12)], [(3, 2)], 2),
        ([(3, 4), (None, 8), (5, 12)], [(3, 4), (None, 6)], 6),
        ([(3, 4), (None, 8)], [(3, 4), (None, 8), (5, 12)], 8),
    ],
)
def test_logs_converge_to_where_they_part(
    leader_runs: list[Run], follower_runs: list[Run], common: int, foreign: bool, codec: Compression
) -> None:
    leader, follower = log(*leader_runs, codec=codec), log(*follower_runs, codec=codec)
    before = follower.log_end_offset
    if not foreign:
        leader.assign_epoch_start(20)
    assert [before, *converge(leader, follower, foreign=foreign)][-1] == common
    assert contents(follower) == contents(leader)


@pytest.mark.parametrize("leader_runs", [[(None, 8)], [(5, 4), (None, 8)], [(5, 4), (None, 8), (6, 12)], [(2, 10)]])
@pytest.mark.parametrize("end", [2, 4])
def test_logs_without_common_records_are_copied_from_scratch(leader_runs: list[Run], end: int) -> None:
    """The follower's cache is empty, and so it cannot find the start of its last epoch."""
    leader, follower = log(*leader_runs), log((3, 4), (None, 8))
    follower.truncate_to(end)
    assert (follower.epochs.entries, last_epoch(follower)) == ([], 3)
    assert converge(leader, follower, foreign=True)[0] == 0
    assert contents(follower) == contents(leader)


def test_an_epoch_without_a_batch_costs_no_message() -> None:
    """A replica that led and wrote nothing has an epoch that starts at its LEO; the mirror's leader lacks it."""
    leader, follower = log((None, 8)), log((None, 8))
    follower.assign_epoch_start(7)
    assert converge(leader, follower, foreign=True) == [8]
    assert (follower.log_end_offset, follower.epochs.entries) == (8, [])
