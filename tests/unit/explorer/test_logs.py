"""Responses and changes of a model log equal those of the engine's log."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement

import pytest

from kmirror.cluster.replication.truncation import divergence, last_epoch, truncation_point
from kmirror.explorer.logs import EMPTY, FetchResult, Logs, entry, entry_cluster, entry_epoch, is_reset
from kmirror.log.partition_log import PartitionLog
from tests.builders import batch
from tests.unit.log.partitions import open_log

Shape = tuple[tuple[int, ...], int | None]
"""The epochs of a log's records, and one that started after them."""


def shapes() -> Iterator[Shape]:
    for length in range(4):
        for epochs in combinations_with_replacement(range(3), length):
            yield epochs, None
            yield epochs, 3


def engine_log(shape: Shape) -> PartitionLog:
    log = open_log()
    for offset, epoch in enumerate(shape[0]):
        log.append_as_follower(batch(offset=offset, epoch=epoch), max_epoch=epoch)
    if shape[1] is not None:
        log.assign_epoch_start(shape[1])
    return log


def model_log(logs: Logs, shape: Shape) -> int:
    log = logs.append(EMPTY, [entry(epoch, 0, 0) for epoch in shape[0]])
    return log if shape[1] is None else logs.begin_epoch(log, shape[1])


def exchange(follower: PartitionLog, leader: PartitionLog, *, foreign: bool) -> FetchResult:
    """Exchange one fetch between engine logs, like a follower's fetcher and its leader."""
    end, named = follower.log_end_offset, last_epoch(follower)
    told = divergence(leader, named, end, foreign=foreign) if named >= 0 else None
    if told is not None and told.epoch >= 0:
        follower.truncate_to(truncation_point(follower, told.epoch, told.end_offset).offset)
        return FetchResult.DIVERGED
    if told is not None or end > leader.log_end_offset:
        follower.truncate_to(min(end, leader.log_end_offset))
        return FetchResult.OUT_OF_RANGE
    if end < leader.log_end_offset:
        read = leader.read(end, max_bytes=1 << 20, end_offset=leader.log_end_offset, min_one=True)
        follower.append_as_follower(bytes(read.records), max_epoch=99)
    return FetchResult.SERVED


@pytest.mark.parametrize("foreign", [False, True])
def test_a_fetch_changes_a_model_log_like_a_real_log(foreign: bool) -> None:
    logs = Logs()
    answers = dict.fromkeys(FetchResult, 0)
    for leader_shape in shapes():
        leader, model_leader = engine_log(leader_shape), model_log(logs, leader_shape)
        for shape in shapes():
            follower = engine_log(shape)
            answer = exchange(follower, leader, foreign=foreign)
            bound = logs.ends[model_leader]
            found, after = logs.fetch(model_log(logs, shape), model_leader, foreign=foreign, bound=bound, one=False)
            became = logs.logs[after]
            assert found is answer, (leader_shape, shape)
            assert became.log_end_offset == follower.log_end_offset, (leader_shape, shape)
            assert became.epochs.entries == follower.epochs.entries, (leader_shape, shape)
            answers[answer] += 1
    assert all(answers.values()), answers


def test_an_entry_keeps_its_components() -> None:
    number = entry(9, 1, 15, is_reset=True)
    assert (entry_epoch(number), entry_cluster(number), is_reset(number)) == (9, 1, True)
    assert not is_reset(entry(9, 1, 15))


def test_one_record_at_a_time_and_up_to_the_bound() -> None:
    logs = Logs()
    leader = model_log(logs, ((0, 0, 1), None))
    _, one = logs.fetch(EMPTY, leader, foreign=False, bound=3, one=True)
    _, two = logs.fetch(EMPTY, leader, foreign=False, bound=2, one=False)
    assert (logs.ends[one], logs.ends[two]) == (1, 2)


def test_equal_logs_are_one() -> None:
    logs = Logs()
    whole = model_log(logs, ((0, 1), None))
    assert logs.cut(whole, 2) == whole
    assert logs.append(logs.cut(whole, 1), [entry(1, 0, 0)]) == whole
    assert logs.cut(logs.begin_epoch(whole, 5), 2) == whole
