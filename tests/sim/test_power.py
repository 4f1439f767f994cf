"""A broker loses power: what it had not flushed is gone, what acks=all promised is not."""

from __future__ import annotations

from kmirror.sim.cluster import CONTROLLER_ID
from kmirror.sim.simulation import Simulation
from tests.sim.stage import ONE_BROKER, SMALL, TP, StagedCluster, values


def running(seed: int, *, brokers: int = 3) -> StagedCluster:
    configs = SMALL if brokers > 1 else ONE_BROKER
    cluster = StagedCluster(Simulation(seed), "a", brokers=brokers, replication_factor=brokers, configs=configs)
    cluster.start()
    cluster.place_topic(replicas=[list(cluster.broker_ids)])
    return cluster


def test_what_was_acknowledged_outlives_the_power_of_any_one_broker() -> None:
    for seed in range(6):
        cluster = running(seed)
        written = [f"r{number}" for number in range(20)]
        for value in written:
            cluster.write(value)
        victim = cluster.await_leader().broker_id if seed % 2 else cluster.broker_ids[seed // 2]
        cluster.kill(victim, power_cut=True)
        cluster.restart(victim)
        cluster.simulation.run_for(span_s=10)
        cluster.settle()
        assert [value for _, value in values(cluster.log())] == written
        ends = {replica.log.log_end_offset for replica in cluster.replicas(TP).values()}
        assert ends == {20}, "the one that lost them has them again"


def test_a_broker_alone_loses_what_it_had_not_flushed_and_cuts_a_torn_batch() -> None:
    lost = 0
    for seed in range(8):
        cluster = running(seed, brokers=1)
        for number in range(20):
            cluster.write(f"r{number}")
        cluster.kill(1, power_cut=True)
        cluster.restart(1)
        kept = [value for _, value in values(cluster.log())]
        assert kept == [f"r{number}" for number in range(len(kept))]
        lost += 20 - len(kept)
        assert cluster.write("next") == len(kept)
    assert lost > 0


def test_a_controller_without_power_forgets_nothing() -> None:
    cluster = running(0)
    cluster.write("r0")
    before = cluster.image.topics[TP.topic].topic_id
    cluster.kill(CONTROLLER_ID, power_cut=True)
    cluster.restart(CONTROLLER_ID)
    cluster.settle()
    assert cluster.image.topics[TP.topic].topic_id == before
    assert cluster.write("r1") == 1
