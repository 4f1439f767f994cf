"""Truncation offset of a log, replicas that must still truncate, and the epoch after a stop: each branch separately."""

from __future__ import annotations

import pytest

from kmirror.log.epochs import LeaderEpochCache
from kmirror.mirror.cut_rules import (
    FROM_SCRATCH,
    NO_UNCUT,
    SESSION,
    SOURCE_EPOCH_MAX,
    cut_offset,
    epoch_after_stop,
    merge_uncut,
    with_all_replicas,
    without_replicas,
)


class Log:
    """A log in which epochs begin at these offsets."""

    def __init__(self, end: int, *starts: tuple[int, int]) -> None:
        self.log_end_offset = end
        self.epochs = LeaderEpochCache(starts)


CUTS = [
    pytest.param(Log(9, (2, 0), (5, 4)), FROM_SCRATCH, 0, id="from scratch goes everything"),
    pytest.param(Log(9, (2, 0), (5, 4)), -7, 0, id="any epoch below 0 is from scratch"),
    pytest.param(Log(9, (2, 4)), FROM_SCRATCH, 0, id="from scratch goes what is older than the first epoch, too"),
    pytest.param(Log(6), FROM_SCRATCH, 0, id="from scratch goes a log without epochs"),
    pytest.param(Log(9, (0, 0), (5, 4)), 0, 4, id="epoch 0 is one that a cut can leave"),
    pytest.param(Log(9, (2, 0), (5, 4)), 0, 0, id="all epochs are later"),
    pytest.param(Log(9, (2, 0), (5, 4)), 2, 4, id="the log's own epoch stays whole"),
    pytest.param(Log(9, (2, 0), (5, 4)), 3, 4, id="an epoch that the log does not have"),
    pytest.param(Log(9, (2, 0), (5, 4), (8, 7)), 2, 4, id="the first later epoch counts"),
    pytest.param(Log(9, (2, 0), (5, 4)), 5, 9, id="no later epoch: the log end"),
    pytest.param(Log(9, (2, 0), (5, 4)), 6, 9, id="an epoch above all: the log end"),
    pytest.param(Log(9, (2, 0), (5, 9)), 2, 9, id="a later epoch without records removes none"),
    pytest.param(Log(9, (2, 0), (5, 12)), 2, 9, id="never above the log end"),
    pytest.param(Log(0), 3, 0, id="an empty log"),
    pytest.param(Log(6), 3, 6, id="a log without epochs"),
]


@pytest.mark.parametrize(("log", "epoch", "offset"), CUTS)
@pytest.mark.decision("D11")
def test_a_truncation_ends_where_the_first_later_epoch_starts(log: Log, epoch: int, offset: int) -> None:
    assert cut_offset(log, epoch) == offset


@pytest.mark.decision("D30")
def test_a_truncation_lists_every_assigned_replica_and_the_session() -> None:
    assert list(with_all_replicas(NO_UNCUT, (3, 1, 2), 4).items()) == [(SESSION, 4), (1, 4), (2, 4), (3, 4)]


@pytest.mark.decision("D30")
def test_the_deepest_missed_truncation_of_a_replica_stays_on_the_list() -> None:
    listed = with_all_replicas({SESSION: 9, 1: 2, 2: 7}, (1, 2, 3), 4)
    assert listed == {SESSION: 4, 1: 2, 2: 4, 3: 4}


def test_a_replica_that_is_no_longer_assigned_keeps_its_row() -> None:
    assert list(with_all_replicas({7: 1, 2: 6}, (2,), FROM_SCRATCH).items()) == [(SESSION, -1), (2, -1), (7, 1)]


def test_a_truncation_does_not_change_the_former_list() -> None:
    before = {1: 5}
    with_all_replicas(before, (1, 2), 3)
    merge_uncut(before, {1: 2})
    without_replicas(before, [1])
    assert before == {1: 5}


@pytest.mark.decision("D30")
def test_confirmed_replicas_are_removed_from_the_list() -> None:
    listed = {SESSION: 4, 1: 4, 2: 3, 5: -1}
    assert without_replicas(listed, [2, 5, 9]) == {SESSION: 4, 1: 4}
    assert without_replicas(listed, iter([5, SESSION])) == {1: 4, 2: 3}
    assert without_replicas(listed, []) == listed
    assert without_replicas(NO_UNCUT, [1]) == {}


@pytest.mark.decision("D30")
@pytest.mark.parametrize(("one", "other"), [({1: 4, 3: 2}, {3: 5, 2: 1}), ({3: 5, 2: 1}, {1: 4, 3: 2})])
def test_two_lists_are_merged_with_the_deeper_truncation_of_each(one: dict[int, int], other: dict[int, int]) -> None:
    assert list(merge_uncut(one, other).items()) == [(1, 4), (2, 1), (3, 2)]


def test_a_list_merged_with_none_is_the_same() -> None:
    assert merge_uncut({2: 1, 1: 4}, NO_UNCUT) == merge_uncut(NO_UNCUT, {2: 1, 1: 4}) == {1: 4, 2: 1}


@pytest.mark.decision("D36")
@pytest.mark.parametrize(("leader", "last", "epoch"), [(5, 2, 6), (2, 5, 6), (5, 5, 6), (0, -1, 1), (0, -2, 1)])
def test_a_stop_takes_an_epoch_above_the_leaders_and_the_last_mirrored_one(leader: int, last: int, epoch: int) -> None:
    assert epoch_after_stop(leader, last) == epoch


@pytest.mark.decision("D14")
def test_local_epochs_have_room_above_the_highest_of_a_source() -> None:
    assert epoch_after_stop(SOURCE_EPOCH_MAX, SOURCE_EPOCH_MAX) + 900_000 < 0x7FFFFFFF
