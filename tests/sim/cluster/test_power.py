"""A broker loses power: unflushed data is lost, records acknowledged with acks=all are not."""

from __future__ import annotations

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.kernel.clock import MILLISECOND
from kmirror.records.record import RecordData
from kmirror.sim.disk_work import DiskOptions
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from kmirror.spec.error_codes import ErrorCode
from tests.sim.stage import ONE_BROKER, SMALL, TP, StagedCluster, values


def running(seed: int, *, brokers: int = 3) -> StagedCluster:
    configs = SMALL if brokers > 1 else ONE_BROKER
    cluster = StagedCluster(Simulation(seed), "a", brokers=brokers, replication_factor=brokers, configs=configs)
    cluster.start()
    cluster.place_topic(replicas=[list(cluster.broker_ids)])
    return cluster


def test_acknowledged_records_survive_a_power_loss_of_one_broker() -> None:
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


def test_a_single_broker_loses_unflushed_records_and_truncates_a_torn_batch() -> None:
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


LIFE = {
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "700",
    "log.cleaner.backoff.ms": "300",
    "log.segment.delete.delay.ms": "900",
    "log.flush.scheduler.interval.ms": "400",
}


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("policy", ["compact", "delete"])
def test_acknowledged_records_survive_power_losses_during_disk_jobs(policy: str, seed: int) -> None:
    """One broker at a time loses power, in any state of its disk; the next one when all are in the ISR again."""
    simulation = Simulation(seed, disk=DiskOptions(10 * MILLISECOND, 400 * MILLISECOND))
    cluster = StagedCluster(simulation, "a", configs={**SMALL, **LIFE})
    cluster.start()
    cluster.place_topic()
    config = {"cleanup.policy": policy, "internal.segment.bytes": "400", "flush.ms": "800", "retention.bytes": "4000"}
    assert cluster.alter(TP.topic, {**config, "min.cleanable.dirty.ratio": "0.2"}) is ErrorCode.NONE
    draw, latest, jobs = simulation.world.rng.split("test"), dict[bytes, tuple[int, bytes]](), 0
    for number in range(60):
        key, value = b"k%d" % draw.below(7), b"v%d" % number
        offset = Producer(cluster).send({TP: [RecordData(key=key, value=value)]})[TP]
        latest[key] = offset, value
        simulation.run_for(span_s=draw.below(4) / 10)
        if number % 6 == 5:
            victim = cluster.broker_ids[draw.below(3)]
            jobs += not cluster.broker(victim).context.disk_jobs.idle
            cluster.kill(victim, power_cut=True)
            simulation.run_for(span_s=draw.below(3) / 10)
            cluster.restart(victim)
            cluster.settle()
    simulation.run_for(span_s=5)
    assert jobs, "no cut came amid a job"
    logs = [replica.log for replica in cluster.replicas(TP).values()]
    start, end = cluster.log().log_start_offset, cluster.log().log_end_offset
    assert {log.log_end_offset for log in logs} == {end}
    assert (policy == "delete") == (start > 0), "by its age or size only a log goes that is not compacted alone"
    for log in logs:
        held = {r.offset: (r.key, r.value) for batch in log.batches() if not batch.is_control for r in batch.records()}
        assert max(log.segment_base_offsets) > 0 and (policy == "delete" or len(held) < 60)
        for key, (offset, value) in latest.items():
            assert offset < log.log_start_offset or held.get(offset) == (key, value)
