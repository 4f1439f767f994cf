"""Offsets that the sync of a mirror commits for a group, and those that it leaves (D17)."""

from __future__ import annotations

import pytest

from kmirror.hooks.hook import HoldHook
from kmirror.hooks.hooks import Hooks
from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.state_records import StateKey, mirror_partition, state_partition
from kmirror.mirror.sync_errors import SyncKind
from kmirror.protocol.gen.offset_commit_request import OffsetCommitRequest
from kmirror.protocol.gen.read_mirror_states_request import ReadMirrorStatesRequest
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import MIRROR_STATE_TOPIC
from tests.sim.coordinators.offset_requests import Found, OffsetRequests
from tests.sim.mirror.test_syncs import cycle, errors, with_groups
from tests.sim.stage import ONE_BROKER, SMALL, TP, Pair, StagedCluster, records

pytestmark = pytest.mark.decision("D17")


def hold_commit() -> tuple[Pair, OffsetRequests, OffsetRequests, HoldHook]:
    """Return a mirror of TP, the group's requests at both clusters, and a held commit of 7 by the sync."""
    simulation, hooks = Simulation(0), Hooks()
    a = StagedCluster(simulation, "a", configs=SMALL)
    b = StagedCluster(simulation, "b", configs=SMALL, interpose=hooks)
    a.start()
    b.start()
    p, there, here = with_groups(Pair(simulation, a, b))
    there.commit(5)
    cycle(p, 2)
    assert here.get().offset == 5
    hook = hooks.on(OffsetCommitRequest, from_nodes=True, times=1).hold()
    there.commit(7)
    p.run_until(lambda: bool(hook.requests), "the sync")
    return p, there, here, hook


def release(p: Pair, hook: HoldHook) -> None:
    hook.release()
    p.simulation.run_for(span_s=2)


def test_a_late_commit_of_a_sync_does_not_undo_commits_after_the_failover() -> None:
    p, _, here, hook = hold_commit()
    p.fail_over()
    assert here.commit(9) is ErrorCode.NONE
    release(p, hook)
    assert here.get().offset == 9
    assert errors(p) == dict.fromkeys(SyncKind, 0), "that is no error"


def test_a_late_commit_of_a_sync_does_not_undo_commits_during_a_pause() -> None:
    p, _, here, hook = hold_commit()
    p.there.pause([TP.topic])
    p.run_until(lambda: p.b.state() == "PAUSED", "the pause")
    assert here.commit(9) is ErrorCode.NONE
    release(p, hook)
    assert here.get().offset == 9


@pytest.mark.parametrize("in_transaction", [False, True])
def test_a_verdict_on_a_sync_does_not_apply_to_later_commits(in_transaction: bool) -> None:
    """The group's coordinator gets the removal, and the state that it requested, after all is over."""
    simulation, hooks = Simulation(0), Hooks()
    a = StagedCluster(simulation, "a", configs=SMALL)
    b = StagedCluster(simulation, "b", configs=ONE_BROKER, interpose=hooks)
    a.start()
    b.start()
    p, _, here = with_groups(Pair(simulation, a, b))
    count = len(b.image.topics[MIRROR_STATE_TOPIC].partitions)
    place = state_partition(StateKey("m", b.image.topics[TP.topic].topic_id, TP.partition), count)
    others = [b.await_leader(tp).broker_id for tp in (TP, TopicPartition(MIRROR_STATE_TOPIC, place))]
    named = (OffsetRequests(b, f"g{number}") for number in range(9))
    here = next(group for group in named if b.await_leader(group.shard).broker_id not in others)
    there = OffsetRequests(a, here.group)
    there.create()
    producer = Producer(b, transactional_id="t")
    commits = hooks.on(OffsetCommitRequest, from_nodes=True, times=1).hold()
    there.commit(7)
    p.run_until(lambda: bool(commits.requests), "the sync")
    if in_transaction:  # Nothing of it counts as newer than the verdict yet.
        producer.begin_transaction()
        assert here.add_to(producer) is ErrorCode.NONE
    coordinator = b.await_leader(here.shard).broker_id
    news = simulation.line("b-controller", f"b-{coordinator}", one_way=True)
    news.set(latency_ms=5000)
    reads = hooks.on(ReadMirrorStatesRequest, from_nodes=True, times=1).hold(applied=True)
    commits.release()
    p.run_until(lambda: bool(reads.requests), "the coordinator asks")
    assert b.state() == "MIRRORING"
    p.there.fail_over()
    if in_transaction:
        assert here.commit_in(producer, 9) is ErrorCode.NONE
    else:
        assert here.commit(9) is ErrorCode.NONE
    release(p, reads)
    if in_transaction:
        here.end(producer, commit=True)
        here.settled()
    assert here.get().offset == 9


def test_a_leader_epoch_unknown_to_the_partition_is_left_out_of_the_offset() -> None:
    """A client that begins there would reject the metadata of this cluster, whose epoch is lower."""
    p, there, here = with_groups()
    leader = p.b.await_leader().broker_id
    synced_by = p.b.await_leader(TopicPartition(MIRROR_STATE_TOPIC, mirror_partition("m", 2))).broker_id
    assert leader != synced_by
    lines = [p.simulation.line(f"b-{leader}", f"a-{broker}") for broker in p.a.broker_ids]
    for line in lines:
        line.take_down()  # So it learns of no election, and the mirror's coordinator does.
    p.a.bump(7)
    there.commit(5, epoch=7)
    cycle(p, 2)
    assert here.get() == Found(5, -1)
    for line in lines:
        line.bring_up()
    p.a.write("n")
    p.run_until(lambda: p.b.await_leader().leader_epoch >= 7, "the epoch")
    cycle(p)
    assert here.get() == Found(5, 7)


def test_an_offset_is_clamped_to_the_end_that_a_stop_keeps() -> None:
    """A stop truncates at the first transaction whose end was not mirrored, and new records begin there."""
    p, there, here = with_groups(mirror={"mirror.groups.clamp": "true"})
    ended, open_still = Producer(p.a, transactional_id="ended"), Producer(p.a, transactional_id="open")
    ended.begin_transaction()
    ended.send(records("ended"))
    p.a.write("plain")
    open_still.begin_transaction()
    open_still.send(records("open"))
    ended.commit_transaction()
    p.run_until(lambda: p.b.log().high_watermark == 12, "all below the transaction that is open at the source")
    there.commit(12, epoch=0)
    cycle(p)
    assert (p.b.log().last_stable_offset, here.get()) == (10, Found(10))
    p.simulation.line(p.a, p.b).take_down()
    p.there.fail_over()
    assert p.b.write("written here") >= here.get().offset, "the group reads it"
