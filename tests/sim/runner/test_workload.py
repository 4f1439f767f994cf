"""Producers of a load differ in phase, retry refused writes, and get acknowledgements only for stored records."""

from __future__ import annotations

import pytest

from kmirror.experiments.failover_rules import content, missing
from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.rng import Rng
from kmirror.mirror.states import MirrorState
from kmirror.records.codecs import Compression
from kmirror.sim.cluster import Cluster
from kmirror.sim.mirror import Mirror
from kmirror.sim.simulation import Simulation
from kmirror.sim.workload import Load, LoadOptions

PARTITIONS = [TopicPartition("orders", 0), TopicPartition("orders", 1)]
PLAIN = LoadOptions(
    producers=4, transactional=0, transaction_ms=0, batch_records=5, record_bytes=40, records_per_second=500,
    compression=Compression.NONE,
)  # fmt: skip


def with_transactions(transactional: int, transaction_ms: int) -> LoadOptions:
    return LoadOptions(
        producers=4, transactional=transactional, transaction_ms=transaction_ms, batch_records=5, record_bytes=40,
        records_per_second=500, compression=Compression.NONE,
    )  # fmt: skip


def cluster(seed: int) -> Cluster:
    made = Cluster(Simulation(seed), "a", brokers=1, configs={"transaction.state.log.num.partitions": "1"})
    made.start()
    made.create_topic("orders", 2)
    return made


def loaded(where: Cluster, options: LoadOptions) -> Load:
    load = Load(where, where.name, PARTITIONS, Rng(where.simulation.seed).split("load"), options)
    load.prepare(within_s=60)
    return load


def lost(load: Load) -> list[object]:
    held = {}
    for tp in PARTITIONS:
        leader = load.cluster.leader(tp)
        assert leader is not None
        held[tp] = content(leader.log)
    return [batch.key for batch in missing(load.acked, held)]


def test_the_seed_draws_when_each_producer_begins() -> None:
    def first_of_each(seed: int) -> list[int]:
        load = loaded(cluster(seed), PLAIN)
        began = load.cluster.simulation.world.now
        load.start()
        load.cluster.simulation.run_for(span_s=0.2)
        acked: dict[bytes, int] = {}
        for batch in load.acked:
            acked.setdefault(batch.key.rpartition(b"-")[0], (batch.acked_at - began) // MILLISECOND)
        return [acked[name] for name in sorted(acked)]

    one, other = first_of_each(1), first_of_each(2)
    assert len(set(one)) == 4, "no two of the producers begin together"
    assert one != other and one == first_of_each(1)


def test_records_of_a_transaction_are_acknowledged_by_its_commit() -> None:
    load = loaded(cluster(3), with_transactions(2, 300))
    simulation = load.cluster.simulation
    load.start()
    simulation.run_for(span_s=1.5)
    since = load.open_since()
    assert since is not None and simulation.world.now - since < 310 * MILLISECOND
    assert load.uncommitted, "transactions are open"
    load.stop()
    load.settle(within_s=60)
    assert load.open_since() is None
    by_transaction = {batch.transaction for batch in load.acked}
    assert None in by_transaction and len(by_transaction) > 6
    for name in by_transaction - {None}:
        assert len({batch.acked_at for batch in load.acked if batch.transaction == name}) == 1
    simulation.run_for(span_s=0.5)
    assert lost(load) == []
    assert not {batch.key for batch in load.acked} & load.uncommitted.keys()


def test_a_producer_that_dies_with_its_site_leaves_its_transaction_open() -> None:
    load = loaded(cluster(4), with_transactions(4, 10_000))
    load.start()
    load.cluster.simulation.run_for(span_s=1)
    load.crash()
    load.settle(within_s=1)
    leader = load.cluster.leader(PARTITIONS[0])
    assert leader is not None and leader.log.first_unstable_offset is not None


@pytest.mark.parametrize("transactional", [0, 2])
def test_nothing_acknowledged_is_missing_where_writes_are_refused_for_a_while(transactional: int) -> None:
    """A new leader does not know the producers when it begins to accept batches, and takes any first sequence."""
    a = cluster(5)
    b = Cluster(a.simulation, "b", brokers=1, configs={"transaction.state.log.num.partitions": "1"})
    b.start()
    mirror = Mirror("m", source=a, destination=b)
    mirror.create()
    mirror.add_topics(["orders"])
    mirror.wait_for_state(MirrorState.MIRRORING, PARTITIONS)
    a.produce("orders", 0, [b"one"])
    a.produce("orders", 1, [b"one"])
    mirror.catch_up()
    load = loaded(b, LoadOptions(
        producers=3, transactional=transactional, transaction_ms=100 * (transactional > 0), batch_records=1,
        record_bytes=20, records_per_second=6_000, compression=Compression.NONE,
    ))  # fmt: skip
    load.start()
    b.simulation.run_for(span_s=0.3)
    assert load.acked == [] and load.refused > 3
    mirror.fail_over()
    b.simulation.run_for(span_s=0.5)
    load.stop()
    load.settle(within_s=60)
    b.simulation.run_for(span_s=0.5)
    assert len(load.acked) > 1_000 and load.first_ack.keys() == set(PARTITIONS)
    assert lost(load) == []
