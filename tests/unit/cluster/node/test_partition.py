"""One partition: replicas that hold the high watermark back, that may join the ISR, and that confirmed a truncation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from kmirror.cluster.images import PartitionImage
from kmirror.cluster.node.partition import FetchClock, Partition
from tests.unit.cluster.stage import append, partition


def test_a_follower_that_has_not_fetched_holds_the_high_watermark() -> None:
    p = partition()
    append(p, 3)
    p.on_follower_fetch(1, 2, 3)
    assert not p.advance_high_watermark()
    p.on_follower_fetch(2, 3, 1)
    assert p.advance_high_watermark()
    assert p.log.high_watermark == 1


def test_high_watermark_never_passes_the_slowest_isr_member() -> None:
    p = partition()
    append(p, 5)
    p.on_follower_fetch(1, 2, 4)
    p.on_follower_fetch(1, 3, 2)
    p.advance_high_watermark()
    assert p.log.high_watermark == 2


def test_a_follower_outside_the_isr_does_not_hold_it() -> None:
    p = partition(isr=(1, 2))
    append(p, 3)
    p.on_follower_fetch(1, 2, 3)
    p.advance_high_watermark()
    assert p.log.high_watermark == 3


def test_a_member_being_added_already_holds_the_high_watermark() -> None:
    p = partition(isr=(1, 2))
    append(p, 3)
    p.pending_isr = (1, 2, 3)
    p.on_follower_fetch(1, 3, 1)
    p.on_follower_fetch(1, 2, 3)
    p.advance_high_watermark()
    assert p.log.high_watermark == 1


def test_a_member_being_removed_still_holds_the_high_watermark() -> None:
    p = partition()
    append(p, 3)
    p.pending_isr = (1, 2)
    p.on_follower_fetch(1, 2, 3)
    p.on_follower_fetch(1, 3, 1)
    p.advance_high_watermark()
    assert p.log.high_watermark == 1


@pytest.mark.decision("D35")
def test_after_a_truncation_follower_state_is_unknown_until_the_next_fetch() -> None:
    p = partition()
    append(p, 5)
    for follower in (2, 3):
        p.on_follower_fetch(1, follower, 5)
    p.advance_high_watermark()
    p.log.truncate_to(2)
    p.on_log_cut(2)
    assert p.log.high_watermark == 2
    append(p, 1)
    assert not p.advance_high_watermark(), "their log ends of before are not the log's any more"
    assert p.unconfirmed_members((1, 2, 3)) == [2, 3]
    p.on_follower_fetch(3, 2, 2)
    p.on_follower_fetch(3, 3, 2)
    assert p.unconfirmed_members((1, 2, 3)) == [], "the leader is cut when it says so"


@pytest.mark.decision("D30")
@pytest.mark.decision("D35")
def test_a_follower_that_must_truncate_is_not_admitted_before_it_is_persisted() -> None:
    p = partition(isr=(1, 2))
    append(p, 5)
    p.required_cuts, p.barred_from_isr = {3: 0}, frozenset({3})
    p.on_follower_fetch(1, 3, 5)
    assert not p.has_confirmed(3), "its log end alone says nothing (D35)"
    assert not p.may_join(3)
    assert p.confirm_cut(3) and not p.confirm_cut(3)
    assert p.has_confirmed(3) and not p.may_join(3), "struck off in memory only (D30)"
    p.barred_from_isr = frozenset()
    assert p.may_join(3)


def test_a_replica_may_join_the_isr_once_it_has_caught_up() -> None:
    p = partition(isr=(1, 2))
    append(p, 4)
    p.on_follower_fetch(1, 2, 4)
    p.advance_high_watermark()
    p.on_follower_fetch(1, 3, 3)
    assert not p.may_join(3)
    p.on_follower_fetch(1, 3, 4)
    assert p.may_join(3)
    assert not p.may_join(2), "it is a member"
    p.pending_isr = (1, 2, 3)
    assert not p.may_join(3), "one change at a time"


def test_a_new_leader_forgets_follower_state_and_a_bumped_one_does_not() -> None:
    p = partition()
    append(p, 2)
    p.on_follower_fetch(1, 2, 2)
    p.apply(2, replace(p.image, leader_epoch=9, partition_epoch=1))
    assert p.followers[2].log_end == 2, "the same leader in a later epoch (BumpLeaderEpochs)"
    p.apply(3, PartitionImage((1, 2, 3), (1, 2, 3), 2, 10, 2))
    assert not p.followers
    p.apply(4, PartitionImage((1, 2, 3), (1, 2, 3), 1, 11, 3))
    assert p.followers[2].log_end == -1
    assert p.epoch_start_offset == 2


@pytest.mark.decision("D68")
@pytest.mark.parametrize(
    ("leader_before", "leader_epoch", "partition_epoch", "led_before"),
    [(1, 6, 11, True), (1, 6, 12, True), (1, 9, 11, True), (1, 7, 12, False), (2, 6, 11, False)],
    ids=["raised", "raised as the ISR changed", "raised by more than one", "raised twice", "elected"],
)
def test_a_leader_led_before_if_no_other_broker_can_have_led_in_between(
    leader_before: int, leader_epoch: int, partition_epoch: int, led_before: bool
) -> None:
    """It receives some changes together, even an election and the next one."""
    p = partition(leader_epoch=4)
    p.apply(1, replace(p.image, leader=leader_before, leader_epoch=5, partition_epoch=10))
    p.apply(2, replace(p.image, leader=1, leader_epoch=leader_epoch, partition_epoch=partition_epoch))
    assert p.led_before is led_before


def test_older_metadata_of_the_controller_is_ignored() -> None:
    p = partition(leader_epoch=5)
    p.apply(1, replace(p.image, leader_epoch=6, partition_epoch=4))
    assert not p.apply(2, replace(p.image, leader_epoch=5, partition_epoch=9))
    assert not p.apply(2, replace(p.image, isr=(1,), partition_epoch=3))
    assert (p.leader_epoch, p.isr) == (6, (1, 2, 3))


def test_lagging_members_are_those_behind_for_longer_than_allowed() -> None:
    p = partition()
    append(p, 2)
    p.on_follower_fetch(10, 2, 2)
    p.on_follower_fetch(10, 3, 1)
    assert p.lagging_members(20, 100) == ()
    assert p.lagging_members(200, 100) == (3,), "2 has everything, however long ago"
    p.pending_isr = (1, 2)
    assert p.lagging_members(200, 100) == ()


@pytest.mark.parametrize(
    ("change", "times"),
    [
        (lambda p: p.apply(1, replace(p.image, isr=(1, 2), partition_epoch=4)), 1),
        (lambda p: p.apply(1, replace(p.image, leader_epoch=-1)), 0),
        (lambda p: p.advance_high_watermark(), 1),
        (lambda p: p.advance_high_watermark() and p.advance_high_watermark(), 1),
        (lambda p: p.on_log_cut(1), 1),
        (lambda p: p.demand_cut(2, 0), 1),
    ],
    ids=["image", "older image", "high watermark", "same high watermark", "cut", "demanded cut"],
)
def test_watchers_of_a_partition_are_notified_of_changes(change: Callable[[Partition], object], times: int) -> None:
    p, watcher = partition(), Watching()
    append(p, 2)
    for replica in (2, 3):
        p.on_follower_fetch(1, replica, 2)
    p.watch(watcher)
    change(p)
    assert watcher.count == times


class Watching:
    """A watcher that counts."""

    parked_keys = ()

    def __init__(self) -> None:
        self.count = 0

    def on_changed(self) -> None:
        self.count += 1

    def on_dropped(self) -> None:
        raise AssertionError("it is still there")


def test_a_fetch_outside_the_followers_session_starts_at_its_clock() -> None:
    p = partition()
    append(p, 2)
    p.on_follower_fetch(10, 2, 2)
    follower, clock = p.followers[2], FetchClock(10)
    follower.clock = clock
    clock.fetched_at = 50  # The follower has fetched since then.
    assert (follower.fetched_at, follower.caught_up_at) == (50, 50)
    append(p, 1)
    p.on_follower_fetch(60, 2, 2)
    assert follower.caught_up_at == 50, "it had all that there was at its last fetch"
    clock.fetched_at = 70
    assert follower.caught_up_at == 50, "and its clock stands for it no longer"


@pytest.mark.parametrize(("adds", "marker_epoch", "counts"), [(True, 4, True), (True, 5, False), (False, 4, False)])
def test_a_verification_outlives_the_marker_of_the_transaction_before(
    adds: bool, marker_epoch: int, counts: bool
) -> None:
    """A marker of the same epoch belongs to another transaction only where transactions raise the epoch."""
    p = partition()
    guard = p.begin_verification(7, 3, 2, adds=adds)
    assert p.begin_verification(7, 4, 5, adds=adds) is guard
    assert (guard.epoch, guard.lowest_sequence) == (4, 5)
    p.begin_verification(7, 4, 6, adds=adds)
    assert guard.lowest_sequence == 5
    p.end_verification(7, marker_epoch)
    assert (p.verifications.get(7) is guard) is counts
