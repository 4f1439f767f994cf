"""Brokers of the destination die in every state, and at every step of STOPPING; the next leader finishes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kmirror.assembly.mirrors import MirrorRow
from kmirror.kernel.clock import Instant
from kmirror.mirror.partition import MirrorPartition
from kmirror.mirror.state_records import NOT_SETTLED
from kmirror.mirror.states import MirrorState
from kmirror.sim.facts import ReasonChanged
from tests.builders import marker
from tests.sim.stage import (
    ONE_BATCH,
    TOPIC,
    TP,
    Pair,
    WrittenLogs,
    assert_equal,
    pair,
    plain,
    resets,
    transactional,
    values,
)

OPEN = [plain(0, 0, "r0", "r1"), plain(2, 3, "r2"), transactional(3, 3, 9, "open"), plain(4, 3, "above")]
"""A source whose log ends in an open transaction; on disk, its leader epoch becomes 4."""


PATIENT = {
    "replica.lag.time.max.ms": "600000",
    "broker.session.timeout.ms": "60000",
    "mirror.topic.num.partitions": "1",
    "mirror.topic.replication.factor": "1",
}
"""Followers stay in the ISR for a minute while they are down; the controller does not add them again before."""


def kill_when(p: Pair, condition: Callable[[], bool], what: str) -> int:
    """Kill B's leader in the event after which `condition` holds; return the broker."""
    p.run_until(condition, what)
    victim = p.b.await_leader().broker_id
    p.b.kill(victim)
    return victim


@pytest.mark.parametrize("cut_yet", [False, True], ids=["before the cut", "after the cut"])
@pytest.mark.decision("D9")
def test_leader_dies_while_preparing(cut_yet: bool) -> None:
    ours = WrittenLogs({TOPIC: [plain(0, 0, "b0"), plain(1, 1, "b1")]})
    p = pair(logs=WrittenLogs({TOPIC: OPEN[:2]}), b_logs=ours)
    p.there.create()
    p.there.add_topics([TOPIC])

    def reached() -> bool:
        mp = p.b.mirror_partition()
        return mp is not None and p.b.state() == "PREPARING" and (mp.cut_at is not None) is cut_yet

    victim = kill_when(p, reached, "PREPARING")
    assert_equal_when_back(p, victim)
    assert [value for _, value in values(p.b.log())] == ["r0", "r1", "r2"]


def assert_equal_when_back(p: Pair, victim: int) -> None:
    p.there.wait_for_state(MirrorState.MIRRORING, [TP])
    p.b.restart(victim)
    assert_equal(p.there)


@pytest.mark.decision("D9")
@pytest.mark.decision("D13")
def test_leader_dies_while_mirroring_again_and_again() -> None:
    p = pair(logs=WrittenLogs({TOPIC: OPEN[:2]}))
    p.begin()
    for turn in range(5):
        p.a.write(f"turn {turn}")
        victim = p.b.elect()
        p.a.write(f"turn {turn}, second")
        p.there.wait_for_state(MirrorState.MIRRORING, [TP])
        p.b.restart(victim)
        p.b.settle()
    assert_equal(p.there)
    assert p.cuts_of(p.b) == []
    assert [e.epoch for e in p.b.log().epochs.entries] == [e.epoch for e in p.a.log().epochs.entries]


# Condition right after each step of STOPPING, in order (D15).
Step = Callable[[Pair, MirrorPartition], bool]
STEPS: dict[str, Step] = {
    "persisted": lambda p, mp: p.b.persisted().state is MirrorState.STOPPING,
    "decided, not known to the leader": lambda p, mp: p.b.persisted().stop is not None,
    "decided, not bumped": lambda p, mp: mp.stop is not None,
    "bumped": lambda p, mp: mp.stop is not None and mp.stop.epoch <= p.b.await_leader().leader_epoch,
    "reset written, not replicated": lambda p, mp: bool(resets(p.b.log())),
    "reset replicated": lambda p, mp: bool(resets(p.b.log())) and p.b.log().high_watermark == p.b.log().log_end_offset,
}


def stop_with_a_death_at(p: Pair, step: str) -> list[MirrorRow]:
    """Remove the topic, kill the leader when its stop has reached `step`, and let the next one finish."""
    p.there.remove_topics([TOPIC])

    def reached() -> bool:
        mp = p.b.mirror_partition()
        return mp is not None and STEPS[step](p, mp)

    victim = kill_when(p, reached, f"STOPPING: {step}")
    rows = p.there.wait_for_state(MirrorState.STOPPED, [TP])
    p.b.restart(victim)
    p.b.settle()
    return rows


@pytest.mark.kip("1279", "STOPPING")
@pytest.mark.decision("D9")
@pytest.mark.decision("D10")
@pytest.mark.decision("D15")
@pytest.mark.decision("D36")
@pytest.mark.parametrize("above", [False, True], ids=["epoch as the source's", "epoch above already"])
@pytest.mark.parametrize("step", STEPS)
def test_leader_dies_at_a_step_of_stopping(step: str, above: bool) -> None:
    p = pair(len(step), logs=WrittenLogs({TOPIC: OPEN[:2]}))
    p.a.write("r3")
    p.begin()
    if above:
        p.b.bump(9)
    before = p.b.await_leader().leader_epoch
    assert before == (9 if above else 4)
    p.simulation.line(p.a, p.b).take_down()
    rows = stop_with_a_death_at(p, step)
    assert [row.last_mirrored_epoch for row in rows] == [4]
    assert p.b.persisted().last_mirrored_epoch == 4, "settled once, whichever leader finishes"
    for replica in p.b.replicas(TP).values():
        assert values(replica.log) == [(0, "r0"), (1, "r1"), (2, "r2"), (3, "r3")]
        found = resets(replica.log)
        assert [batch.base_offset for batch in found] == [4], "one producer reset, right after the mirrored records"
        assert found[0].partition_leader_epoch > before, "an epoch begun for this stop, also where it was high enough"
    assert p.b.write("on b") == 5


@pytest.mark.decision("D15")
@pytest.mark.parametrize("step", ["persisted", "decided, not known to the leader", "decided, not bumped"])
def test_leader_dies_in_stopping_with_an_open_transaction(step: str) -> None:
    log = [
        plain(0, 0, "r0"),
        transactional(1, 0, 9, "open"),
        transactional(2, 0, 8, "done"),
        plain(3, 0, "above"),
        marker(offset=4, epoch=0, pid=8, commit=True),
        marker(offset=5, epoch=0, pid=9, commit=False),
    ]
    p = pair(len(step), logs=WrittenLogs({TOPIC: log}), b_configs=ONE_BATCH)
    p.there.create()
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.leader(TP) is not None and p.b.log().log_end_offset == 5, "all but the last marker")
    p.simulation.line(p.a, p.b).take_down()
    stop_with_a_death_at(p, step)
    for replica in p.b.replicas(TP).values():
        assert values(replica.log) == [(0, "r0")]
        assert [batch.base_offset for batch in resets(replica.log)] == [1]
        assert replica.log.last_stable_offset == replica.log.log_end_offset


def apart(batches: list[bytes], end: int) -> tuple[Pair, list[int]]:
    """Return clusters that mirror up to `end`, and B's followers: none of them stores the mirrors' state.

    So states can be persisted while the followers are down. Seeds are tried until this holds.
    """
    seed = 0
    while True:
        p = pair(seed, logs=WrittenLogs({TOPIC: batches}), brokers=4, b_configs=PATIENT)
        p.there.create()
        p.there.add_topics([TOPIC])
        p.run_until(lambda p=p: p.b.leader(TP) is not None and p.b.log().high_watermark == end, "B")  # type: ignore[misc]
        partition = p.b.await_leader()
        followers = [b for b in partition.image.replicas if b != partition.broker_id]
        if p.b.image.topics["__mirror_state"].partitions[0].leader not in followers:
            return p, followers
        seed += 1


@pytest.mark.decision("D15")
def test_a_stop_waits_for_followers_before_it_truncates() -> None:
    p, followers = apart(OPEN[:2], 3)
    for follower in followers:
        p.b.kill(follower)
    p.a.write("only the leader has it")
    p.run_until(lambda: p.b.log().log_end_offset == 4, "the leader to append")
    p.there.remove_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "STOPPING", "STOPPING")
    p.hold(20, lambda: not resets(p.b.log()), "no reset before the followers have what the leader has")
    assert p.b.persisted().last_mirrored_epoch == NOT_SETTLED
    assert p.b.reason().startswith("not every member of ISR")
    told = [seen.fact for seen in p.simulation.facts(ReasonChanged)]
    assert (told[-1].state, told[-1].reason) == (MirrorState.STOPPING, p.b.reason())
    assert all(f"{follower}" in told[-1].reason.rpartition("log end: ")[2] for follower in followers)
    assert all(fact != before for fact, before in zip(told[1:], told, strict=False)), "told when it changes"
    for follower in followers:
        p.b.restart(follower)
    p.there.wait_for_state(MirrorState.STOPPED, [TP])
    assert values(p.b.log())[-1] == (3, "only the leader has it")


@pytest.mark.decision("D15")
@pytest.mark.decision("D43")
def test_followers_are_waited_for_before_anything_of_our_own_is_written() -> None:
    decided = [
        *OPEN[:2],
        transactional(3, 3, 9, "a"),
        transactional(4, 3, 8, "b"),
        marker(offset=5, epoch=3, pid=9, commit=True),
    ]
    p, followers = apart(decided, 4)
    assert p.b.log().last_stable_offset == 3

    def kill_at_the_cut(now: Instant) -> None:
        if p.b.log().log_end_offset == 3 and p.b.runs(followers[0]):
            for follower in followers:
                p.b.kill(follower)

    p.simulation.world.after_event.append(kill_at_the_cut)
    p.there.remove_topics([TOPIC])
    p.run_until(lambda: not p.b.runs(followers[0]), "the cut")
    p.simulation.world.after_event.remove(kill_at_the_cut)
    p.hold(20, lambda: not resets(p.b.log()), "nothing of our own is written before all are cut")
    assert p.b.state() == "STOPPING"
    assert p.b.reason().startswith("not every member of ISR")
    for follower in followers:
        p.b.restart(follower)
    rows = p.there.wait_for_state(MirrorState.STOPPED, [TP])
    assert [row.last_mirrored_epoch for row in rows] == [3]
    p.b.settle()
    assert [values(replica.log)[-1] for replica in p.b.replicas(TP).values()] == [(2, "r2")] * 3


@pytest.mark.decision("D11")
def test_preparing_waits_for_min_insync_replicas_with_a_reason() -> None:
    ours = WrittenLogs({TOPIC: [plain(0, 0, "b0")]})
    p = pair(logs=WrittenLogs({TOPIC: OPEN[:2]}), b_logs=ours, b_configs={"min.insync.replicas": "3"})
    p.there.create()
    first = p.b.await_leader().broker_id
    victim = next(b for b in p.b.broker_ids if b != first)
    p.run_until(lambda: p.b.is_settled(), "state topic")
    p.b.kill(victim)
    p.run_until(lambda: len(p.b.await_leader().isr) == 2, "the ISR to shrink")
    assert p.b.alter("__mirror_state", {"min.insync.replicas": "1"}).name == "NONE"
    p.there.add_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "PREPARING" and "min.insync" in p.b.reason(), "PREPARING to wait")
    p.hold(60, lambda: p.b.state() == "PREPARING", "no hidden timer ends the wait")
    p.b.restart(victim)
    assert_equal(p.there)


@pytest.mark.decision("D9")
def test_controller_restarts_in_the_middle() -> None:
    p = pair(logs=WrittenLogs({TOPIC: OPEN[:2]}))
    p.there.create()
    p.there.add_topics([TOPIC])
    p.b.kill(100)
    p.a.kill(100)
    p.simulation.run_for(span_s=1)
    p.b.restart(100)
    p.a.restart(100)
    assert_equal(p.there)
    p.b.kill(100)
    p.simulation.run_for(span_s=1)
    p.b.restart(100)
    p.fail_over()
    assert p.b.write("on b") == 4


@pytest.mark.decision("D9")
def test_every_broker_restarts_in_the_middle_of_a_stop() -> None:
    p = pair(logs=WrittenLogs({TOPIC: OPEN[:2]}))
    p.begin()
    p.there.remove_topics([TOPIC])
    p.run_until(lambda: p.b.state() == "STOPPING", "STOPPING")
    for broker_id in p.b.broker_ids:
        p.b.kill(broker_id)
    for broker_id in p.b.broker_ids:
        p.b.restart(broker_id)
    rows = p.there.wait_for_state(MirrorState.STOPPED, [TP])
    assert [row.last_mirrored_epoch for row in rows] == [3]
    assert len(resets(p.b.log())) == 1


@pytest.mark.decision("D14")
def test_local_elections_at_the_destination_do_not_enter_the_mirrored_epoch_history() -> None:
    p = pair(logs=WrittenLogs({TOPIC: OPEN[:2]}))
    p.begin()
    for epoch in (50, 60, 70):
        p.b.bump(epoch)
        p.a.write(f"while B's leader epoch is {epoch}")
    assert_equal(p.there)
    assert [entry.epoch for entry in p.b.log().epochs.entries] == [0, 3, 4]
    rows = p.fail_over()
    assert [row.last_mirrored_epoch for row in rows] == [4]
    assert resets(p.b.log())[0].partition_leader_epoch == 71
