"""Producers that are not restarted keep their id from the source: it is not given to other producers (D55)."""

from __future__ import annotations

import pytest

from kmirror.cluster.producer_id_range import RANGE_IDS, first_producer_id
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.gen.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kmirror.protocol.gen.update_features_response import UpdateFeaturesResponse
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from tests.sim.stage import ONE_BROKER, T0_MS, TOPIC, Pair, StagedCluster, records, values

TWO = [TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1)]


def idempotent(producer_id: int, value: str) -> bytes:
    """Return a batch of an idempotent producer with an id from another cluster, and epoch 0."""
    return build_batch(
        [RecordData(value=value.encode())],
        timestamp_ms=T0_MS, producer_id=producer_id, producer_epoch=0, base_sequence=0,
    )  # fmt: skip


@pytest.mark.decision("D55")
@pytest.mark.parametrize("source_version", [0, 1], ids=["source cannot mirror", "source can mirror"])
def test_after_a_failover_no_record_is_attributed_to_another_producer(source_version: int) -> None:
    simulation = Simulation(1)
    a = StagedCluster(simulation, "a", brokers=1, configs=ONE_BROKER, mirror_version=source_version)
    b = StagedCluster(simulation, "b", brokers=1, configs=ONE_BROKER)
    p = Pair(simulation, a, b)
    a.start()
    b.start()
    a.create_topic(TOPIC, partitions=2)
    carried = Producer(a, idempotent=True)
    carried.send(records("before", tp=TWO[0]))
    p.begin()
    p.fail_over()

    # It continues here, and has written nothing to this partition yet: like a new producer it begins with sequence 0.
    batch = idempotent(carried.producer_id, "carried")
    assert Producer(b).try_send({TWO[1]: batch})[TWO[1]][0] == 0
    for number in range(3):
        Producer(b, idempotent=True).send(records(f"fresh {number}", tp=TWO[1]))
    assert [value for _, value in values(b.log(TWO[1]))] == ["carried", "fresh 0", "fresh 1", "fresh 2"]


@pytest.mark.decision("D55")
def test_ids_begin_elsewhere_as_soon_as_mirroring_is_turned_on() -> None:
    cluster = StagedCluster(Simulation(1), "b", brokers=1, configs=ONE_BROKER, mirror_version=0)
    cluster.start()
    assert [Producer(cluster, idempotent=True).producer_id for _ in range(2)] == [0, 1]
    request = UpdateFeaturesRequest(feature_updates=[FeatureUpdateKey("mirror.version", 1, upgrade_type=1)])
    reply = cluster.client.call(cluster.endpoints()[0], request, 2)
    assert isinstance(reply, UpdateFeaturesResponse) and reply.error_code == 0
    cluster.simulation.run_for(span_s=1)
    first = first_producer_id(cluster.cluster_id)
    assert [Producer(cluster, idempotent=True).producer_id for _ in range(2)] == [first, first + 1]


@pytest.mark.decision("D55")
def test_clusters_have_ranges_of_their_own_and_none_begins_at_0() -> None:
    firsts = {first_producer_id(f"cluster {number}") for number in range(300)}
    assert len(firsts) == 300
    assert all(first >= RANGE_IDS and first % RANGE_IDS == 0 and first + RANGE_IDS < 2**53 for first in firsts)
