"""KIP-1279, Unclean Leader Election: cases that the truncation in PREPARING fixes, and those that only a wait fixes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kmirror.kernel.ids import TopicPartition
from kmirror.mirror.states import MirrorState
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.topics import TRANSACTION_TOPIC
from tests.sim.stage import SMALL, TOPIC, TP, Pair, StagedCluster, assert_equal, pair, settle, values

TRANSACTIONS = TopicPartition(TRANSACTION_TOPIC, 0)
UNCLEAN = {"unclean.leader.election.enable": "true"}
A_CONFIGS = {"min.insync.replicas": "1", "mirror.topic.num.partitions": "1", "mirror.topic.replication.factor": "1"}


def make(seed: int) -> Pair:
    """Return clusters with one partition, whose replicas at A may lead uncleanly, and the mirror back.

    The mirrors' state at A must survive the failures of brokers 1 to 3, so it is on the fourth: seeds are tried until
    it is.
    """
    while True:
        p = pair(seed, brokers=4, a_configs=A_CONFIGS)
        p.a.place_topic()
        assert p.a.alter(TOPIC, UNCLEAN) is ErrorCode.NONE
        p.back.create()
        if p.a.image.topics["__mirror_state"].partitions[0].leader == 4:
            return p
        seed += 1000


def only(p: Pair, broker_id: int, kill: Iterable[int], *, at: StagedCluster | None = None) -> None:
    """Kill brokers of A, or of another cluster, then let `broker_id` alone lead, uncleanly if necessary."""
    cluster = at or p.a
    for victim in kill:
        if cluster.runs(victim):
            cluster.kill(victim)
    if not cluster.runs(broker_id):
        cluster.restart(broker_id)
    p.run_until(
        lambda: (found := cluster.leader(TP)) is not None and (found.broker_id, found.isr) == (broker_id, (broker_id,)),
        f"broker {broker_id} to lead alone",
    )


@pytest.mark.kip("1279", "Unclean Leader Election, before mirroring")
@pytest.mark.decision("D11")
def test_an_unclean_election_before_the_truncation_is_resolved_by_it() -> None:
    p = make(1)
    p.a.write("r0")
    p.a.settle()
    only(p, 1, kill=(2, 3))  # Brokers 2 and 3 hold offset 0 alone.
    p.a.write("r1")
    p.a.write("r2")
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    only(p, 2, kill=(1,))  # The unclean election; three records in epochs that B never gets.
    for text in ("x1", "x2", "x3"):
        p.a.write(text)
    assert values(p.a.log()) == [(0, "r0"), (1, "x1"), (2, "x2"), (3, "x3")]
    p.fail_over()
    assert values(p.b.log()) == [(0, "r0"), (1, "r1"), (2, "r2")]
    for broker_id in (1, 3):
        p.a.restart(broker_id)
    p.a.settle()
    p.simulation.line(p.a, p.b).bring_up()
    p.fail_back(create=False)
    assert p.cuts_of(p.a) == [(1, 4)]
    assert_equal(p.back)


def stale_replica(p: Pair) -> int:
    """Let A's broker 2 alone hold a record above the last mirrored epoch, in an epoch that B will use too.

    It takes two unclean elections, and equal epochs in the two clusters by chance, which are arranged here.
    """
    p.a.write("r0")
    p.a.settle()
    p.begin()
    p.simulation.line(p.a, p.b).take_down()
    only(p, 2, kill=(1, 3))  # The first election.
    p.a.bump(p.b.await_leader().leader_epoch)
    p.a.write("stale")
    only(p, 1, kill=(2,))  # The second: broker 1 never had the record.
    p.a.restart(3)
    rows = p.fail_over()
    assert rows[0].last_mirrored_epoch == 0
    p.simulation.line(p.a, p.b).bring_up()
    return 2


@pytest.mark.kip("1279", "Unclean Leader Election, after the cut")
@pytest.mark.decision("D11")
@pytest.mark.decision("D30")
def test_an_unclean_leader_that_missed_the_truncation_truncates_before_it_serves() -> None:
    """With the KIP's rules alone it would keep a record where B has its producer reset, undetected."""
    p = make(2)
    stale = stale_replica(p)
    p.fail_back(create=False)
    for victim in (1, 3):
        p.a.kill(victim)
    only(p, stale, kill=())  # The third election.
    for broker_id in (1, 3):
        p.a.restart(broker_id)
    p.b.write("from b")
    p.a.settle()
    p.back.wait_for_state(MirrorState.MIRRORING, [TP])
    p.run_until(lambda: p.a.log().log_end_offset == p.b.log().log_end_offset, "A's log to end where B's does")
    settle(p.a, p.b)
    assert_equal(p.back)
    assert "stale" not in [value for _, value in values(p.a.log())]


@pytest.mark.kip("1279", "mirror.support.unclean.leader.election")
@pytest.mark.decision("D11")
def test_with_the_option_preparing_waits_for_every_assigned_replica() -> None:
    p = make(2)
    stale = stale_replica(p)
    assert p.a.alter(TOPIC, {"mirror.support.unclean.leader.election": "true"}) is ErrorCode.NONE
    p.back.add_topics([TOPIC])
    p.run_until(lambda: p.a.state() == "PREPARING" and "not in the ISR" in p.a.reason(), "PREPARING to wait")
    assert p.a.reason() == f"replicas [{stale}] are not in the ISR"
    p.hold(60, lambda: p.a.state() == "PREPARING", "no hidden timer ends the wait")
    p.a.restart(stale)
    assert_equal(p.back)
    for victim in (1, 3):
        p.a.kill(victim)
    only(p, stale, kill=())
    for broker_id in (1, 3):
        p.a.restart(broker_id)
    p.b.write("from b")
    assert_equal(p.back)
    assert "stale" not in [value for _, value in values(p.a.log())]


def lost_at_the_source(option: str) -> tuple[Pair, int]:
    """Return clusters whose source lost two records after B had them, and the broker of B that was down since then."""
    p = pair(3, a_configs={"min.insync.replicas": "1"}, b_configs={"min.insync.replicas": "1"})
    p.a.place_topic()
    assert p.a.alter(TOPIC, UNCLEAN) is ErrorCode.NONE
    p.a.write("r0")
    p.a.settle()
    p.begin()
    assert p.b.alter(TOPIC, {**UNCLEAN, "mirror.support.unclean.leader.election": option}) is ErrorCode.NONE
    only(p, 1, kill=(2, 3))
    p.a.write("lost 1")
    p.a.write("lost 2")
    p.run_until(lambda: all(found.log.log_end_offset == 3 for found in p.b.replicas(TP).values()), "B to have all")
    leader = p.b.await_leader().broker_id
    away = next(broker_id for broker_id in p.b.broker_ids if broker_id != leader)
    p.b.kill(away)
    only(p, 2, kill=(1,))  # The unclean election at the source, of a broker that holds offset 0 alone.
    p.a.write("r1")
    p.run_until(lambda: values(p.b.log()) == [(0, "r0"), (1, "r1")], "B to follow")
    assert (p.b.state(), p.cuts_of(p.b)) == ("MIRRORING", [(1, 3)]), "no replica was waited for"
    for broker_id in (1, 3):
        p.a.restart(broker_id)
    return p, away


def bring_back(p: Pair, away: int, *, leads: bool) -> None:
    """Let the replica that was down return: as a follower, or as an unclean leader with its records."""
    if not leads:
        p.b.restart(away)
        return
    others = [broker_id for broker_id in p.b.broker_ids if broker_id != away]
    only(p, away, kill=others, at=p.b)
    assert values(p.b.log()) == [(0, "r0"), (1, "lost 1"), (2, "lost 2")]
    for broker_id in others:
        p.b.restart(broker_id)


@pytest.mark.kip("1279", "Unclean Leader Election, while mirroring")
@pytest.mark.decision("D54")
@pytest.mark.parametrize("leads", [False, True])
@pytest.mark.parametrize("option", ["false", "true"])
def test_a_truncated_source_log_is_followed_although_a_replica_is_offline(option: str, leads: bool) -> None:
    """The replica that was down has records that the source lost: it truncates them as a follower, and as a leader."""
    p, away = lost_at_the_source(option)
    bring_back(p, away, leads=leads)
    p.a.write("r2")
    right = [(0, "r0"), (1, "r1"), (2, "r2")]
    p.run_until(lambda: values(p.b.log()) == right, "the leader at B to have cut what the source lost")
    assert_equal(p.there)
    assert [values(found.log) for found in p.b.replicas(TP).values()] == [right] * 3


@pytest.mark.kip("1279", "Unclean Leader Election, while mirroring")
@pytest.mark.decision("D54")
@pytest.mark.parametrize(
    ("leads", "right"),
    [
        (False, [(0, "r0"), (1, "r1"), (3, "b0"), (4, "b1")]),
        (True, [(0, "r0"), (1, "lost 1"), (2, "lost 2"), (3, "b1")]),
    ],
)
def test_a_replica_that_returns_after_the_failover_equals_the_others(leads: bool, right: list[tuple[int, str]]) -> None:
    """If it leads uncleanly, B loses records, as in any unclean election; the failback makes A equal to it."""
    p, away = lost_at_the_source("true")
    p.a.settle()
    p.fail_over()
    p.b.write("b0")
    bring_back(p, away, leads=leads)
    settle(p.a, p.b)
    p.run_until(lambda: p.b.state() == "STOPPED", "B to know that it is stopped")
    p.b.write("b1")
    p.fail_back()
    p.run_until(lambda: values(p.a.log()) == right, "A to be what B is")
    assert_equal(p.back)


def test_no_replica_that_lacks_transactions_becomes_their_coordinator() -> None:
    """As in Kafka, `__transaction_state` has no unclean elections: a producer would get the same epoch twice."""
    configs = {**SMALL, **UNCLEAN, "min.insync.replicas": "1", "transaction.state.log.min.isr": "1"}
    a = StagedCluster(Simulation(1), "a", configs=configs)
    a.start()
    a.place_topic()
    assert Producer(a, transactional_id="t").producer_epoch == 0
    leader = a.await_leader(TRANSACTIONS).broker_id
    behind, *others = (broker for broker in (1, 2, 3) if broker != leader)
    a.kill(behind)
    assert Producer(a, transactional_id="t").producer_epoch == 1
    for broker in (*others, leader):
        a.kill(broker)
    a.restart(behind)
    a.await_leader(TP)
    a.simulation.run_for(span_s=10)
    assert a.leader(TRANSACTIONS) is None
    a.restart(leader)
    assert Producer(a, transactional_id="t").producer_epoch == 2
