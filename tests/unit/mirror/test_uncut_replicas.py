"""The persisted list of replicas that must truncate: its content before a leader truncates, and its demands (D30)."""

from __future__ import annotations

import pytest

from kmirror.cluster.node.partition import Partition
from kmirror.cluster.replication.fetch_read import Reader, check_fetch
from kmirror.kernel.uuid import Uuid
from kmirror.mirror.cut_rules import SESSION, Uncut
from kmirror.mirror.naming import Assignment
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.preparing import facts_of, uncut_before_cut
from kmirror.mirror.states import Wish
from kmirror.mirror.uncut_replicas import apply_uncut
from kmirror.protocol.gen.fetch_request import FetchPartition
from kmirror.protocol.gen.fetch_response import EpochEndOffset
from tests.builders import batch
from tests.unit.cluster.stage import partition
from tests.unit.log.partitions import follow

pytestmark = pytest.mark.decision("D30")


@pytest.fixture
def led() -> Partition:
    """A partition of replicas 1 to 3, led by broker 1, with records of the epochs 4 and 6."""
    made = partition()
    follow(made.log, batch(offset=0, epoch=4), batch(offset=1, epoch=6))
    return made


def mirrored(led: Partition, *, cut_epoch: int, uncut: Uncut) -> MirrorPartition:
    return MirrorPartition(led.tp, Uuid.ZERO, Assignment("m", Wish.MIRROR), uncut=uncut, cut_epoch=cut_epoch)


@pytest.mark.parametrize(
    ("uncut", "is_listed"),
    [
        ({}, False),
        ({SESSION: 4, 1: 4, 2: 4}, False),
        ({SESSION: 4, 1: 4, 2: 4, 3: 5}, False),
        ({SESSION: 5, 1: 5, 2: 5, 3: 5}, False),
        ({SESSION: 4, 1: 4, 2: 4, 3: 4}, True),
        ({SESSION: -1, 1: 2, 2: 4, 3: -1}, True),
    ],
    ids=["nobody", "one is missing", "one may keep more", "all may keep more", "all", "deeper cuts"],
)
def test_a_leader_truncates_once_each_replica_is_listed_at_that_depth(
    led: Partition, uncut: Uncut, is_listed: bool
) -> None:
    mp = mirrored(led, cut_epoch=4, uncut=uncut)
    assert facts_of(mp, led, "").is_listed is is_listed
    mp.uncut = uncut_before_cut(mp, led)
    assert facts_of(mp, led, "").is_listed and set(mp.uncut) == {SESSION, 1, 2, 3}


def test_a_leader_without_a_truncation_needs_no_list(led: Partition) -> None:
    assert facts_of(mirrored(led, cut_epoch=6, uncut={}), led, "").is_listed


def test_a_follower_gets_a_deeper_truncation_if_required(led: Partition) -> None:
    mp = mirrored(led, cut_epoch=4, uncut={})
    apply_uncut(mp, led, {SESSION: 4, 1: 4, 2: 4, 3: 4})
    assert led.required_cuts == {2: 4, 3: 4} and led.barred_from_isr == {2, 3}
    led.confirm_cut(2)
    apply_uncut(mp, led, {SESSION: 2, 1: 2, 2: 4, 3: 2})
    assert led.required_cuts == {3: 2}, "broker 2 has made the cut to epoch 4, broker 3 has to cut deeper"
    apply_uncut(mp, led, {SESSION: 2})
    assert not led.barred_from_isr


@pytest.mark.parametrize("cut_epoch", [-1, 4])
def test_a_follower_emptied_by_deletion_must_start_where_the_leader_starts(led: Partition, cut_epoch: int) -> None:
    led.demand_cut(3, cut_epoch)

    def answer(*, log_start: int) -> EpochEndOffset | None:
        fetch = FetchPartition(partition=0, fetch_offset=log_start, last_fetched_epoch=-1, log_start_offset=log_start)
        refused = check_fetch(led, fetch, Reader(3, read_committed=False), foreign=True)
        return None if refused is None else refused.diverging_epoch

    assert led.log.log_start_offset == 0
    asked_to_cut = answer(log_start=1)
    assert asked_to_cut is not None and asked_to_cut.epoch == max(cut_epoch, 0)
    assert answer(log_start=0) is None
