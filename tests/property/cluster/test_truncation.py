"""Two logs with a common prefix: requests for epochs find exactly where they diverge (KIP-101, KIP-595)."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kmirror.cluster.replication.truncation import truncation_point
from kmirror.log.epochs import LeaderEpochCache


@dataclass
class Log:
    """The epoch of each offset, and a broker's cache of it."""

    epochs: list[int]
    leader_epoch: int | None = None
    """A leader's own epoch; it is above all others, and in the cache from the log end on (KIP-101)."""

    @property
    def log_end_offset(self) -> int:
        return len(self.epochs)

    @property
    def cache(self) -> LeaderEpochCache:
        cache = LeaderEpochCache()
        for offset, epoch in enumerate(self.epochs):
            cache.assign(epoch, offset)
        if self.leader_epoch is not None:
            cache.assign(self.leader_epoch, self.log_end_offset)
        return cache

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        return self.cache.end_offset_for(epoch, self.log_end_offset)


def converge(leader: Log, follower: Log) -> tuple[int, int]:
    """Truncate the follower like fetches with LastFetchedEpoch; return its end, and the number of truncations."""
    cuts = 0
    while follower.epochs:
        last, end = follower.epochs[-1], follower.log_end_offset
        epoch, end_offset = leader.end_offset_for_epoch(last)
        if epoch == -1:  # OFFSET_OUT_OF_RANGE: the leader's log, or its epoch cache, begins later.
            follower.epochs.clear()
            break
        if epoch == last and end_offset >= end:
            break
        before = end
        cut = truncation_point(follower, epoch, end_offset)
        assert 0 <= cut.offset <= end
        del follower.epochs[cut.offset :]
        cuts += 1
        assert follower.log_end_offset < before, "every answer cuts something"
    return follower.log_end_offset, cuts


def growing_epochs(start: int, steps: list[int]) -> list[int]:
    """Return epochs that increase from `start` by these steps, twice each, so that their parity is kept."""
    found = []
    for step in steps:
        start += 2 * step
        found.append(start)
    return found


STEPS = st.lists(st.integers(0, 2), max_size=12)


@pytest.mark.decision("D12")
@pytest.mark.kip("101", "truncation")
@given(STEPS, STEPS, STEPS, st.sampled_from(["both moved on", "leader stayed", "follower stayed"]))
def test_a_truncation_keeps_the_common_prefix(
    common: list[int], leader_steps: list[int], follower_steps: list[int], kind: str
) -> None:
    """An epoch has one leader, so past the fork no epoch is in both logs, except perhaps the last common one."""
    shared = growing_epochs(0, common)
    last = shared[-1] if shared else 0
    # Past the fork the leader's epochs are even and the follower's odd; one may first continue the common one.
    leader_tail, follower_tail = growing_epochs(last + 2, leader_steps), growing_epochs(last + 1, follower_steps)
    if kind == "leader stayed" and shared:
        leader_tail = [last, last, *leader_tail]
    if kind == "follower stayed" and shared:
        follower_tail = [last, last, *follower_tail]
    leader, follower = Log([*shared, *leader_tail], 1000), Log([*shared, *follower_tail])
    end, cuts = converge(leader, follower)
    assert end == len(shared)
    assert cuts <= len(set(follower_tail)) + 1
    assert follower.epochs == shared


@given(STEPS, st.integers(0, 30))
def test_a_follower_that_only_lags_behind_is_not_truncated(steps: list[int], behind: int) -> None:
    leader = Log(growing_epochs(0, steps), 1000)
    follower = Log(leader.epochs[: max(0, len(leader.epochs) - behind)])
    assert converge(leader, follower) == (follower.log_end_offset, 0)


@pytest.mark.decision("D12")
@pytest.mark.parametrize(
    ("local", "epoch", "end_offset", "offset"),
    [
        ([1, 1, 1], 1, 2, 2),  # The leader's epoch ends earlier.
        ([1, 2, 2, 2], 1, 3, 1),  # The follower's epoch ends earlier.
        ([1, 1, 3, 3], 2, 9, 2),  # The follower lacks that epoch: truncate to the end of the one below, and ask again.
        ([5, 5], 2, 1, 0),  # The follower has nothing so old.
        ([1, 1], 1, 9, 2),  # Never above the follower's end.
    ],
)
def test_examples(local: list[int], epoch: int, end_offset: int, offset: int) -> None:
    assert truncation_point(Log(local), epoch, end_offset).offset == offset
