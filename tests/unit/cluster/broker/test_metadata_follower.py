"""What does a broker make of a metadata log that it cannot read, or whose records do not fit? What Kafka's does."""

from __future__ import annotations

import pytest

from kmirror.kernel.clock import to_ms
from kmirror.kernel.failures import GaveUp
from kmirror.log.partition_log import AppendOrigin
from kmirror.protocol.gen.fence_broker_record import FenceBrokerRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(Simulation(1), "a", brokers=1)
    made.start()
    return made


def put(cluster: Cluster, value: bytes) -> None:
    """Put a record into the metadata log that no controller of ours writes, and one behind it that it does."""
    log, now_ms = cluster.controller.context.log, to_ms(cluster.simulation.world.now)
    data = build_batch([RecordData(value=value, timestamp=now_ms)])
    log.log.append_as_leader(data, leader_epoch=log.epoch, now_ms=now_ms, origin=AppendOrigin.COORDINATOR)
    cluster.begin_create_topic("behind", 1)


def test_a_record_that_does_not_fit_is_passed_over(cluster: Cluster) -> None:
    put(cluster, encode_metadata_record(FenceBrokerRecord(id=77), 0))
    image = cluster.broker(1).context.image
    cluster.simulation.run_until(lambda: "behind" in image.topics)
    assert cluster.runs(1) and 77 not in image.brokers


@pytest.mark.parametrize("value", [b"\x01\x63\x00", b"\x02", b"\x01\x07\x00\x01"])
def test_a_record_that_cannot_be_read_ends_the_broker(cluster: Cluster, value: bytes) -> None:
    end = cluster.controller.context.log.log.log_end_offset
    put(cluster, value)
    cluster.simulation.run_until(lambda: not cluster.runs(1))
    (gone,) = cluster.simulation.facts(GaveUp)
    assert f"the metadata log cannot be read from offset {end} on: " in str(gone)
