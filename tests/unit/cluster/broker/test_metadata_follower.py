"""A broker with a metadata log that is unreadable, or whose records do not fit: it behaves like Kafka."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker import metadata_follower
from kmirror.kernel.clock import MILLISECOND, to_ms
from kmirror.kernel.failures import GaveUp
from kmirror.log.partition_log import AppendOrigin
from kmirror.protocol.gen.fence_broker_record import FenceBrokerRecord
from kmirror.protocol.keyed_records import encode_metadata_record
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation

SHORT_LOG = {
    "metadata.log.max.record.bytes.between.snapshots": "1000",
    "internal.metadata.log.segment.bytes": "1500",
    "metadata.max.retention.bytes": "1",
}
"""The controller keeps little besides its newest snapshot."""


@pytest.fixture
def cluster() -> Cluster:
    made = Cluster(Simulation(1), "a", brokers=1, configs=SHORT_LOG)
    made.start()
    return made


def put(cluster: Cluster, value: bytes) -> None:
    """Append a record to the metadata log that no kmirror controller writes, followed by a regular one."""
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


def test_a_missing_snapshot_is_requested_again_after_a_pause(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, fetch_snapshot = list[int](), metadata_follower.fetch_snapshot

    def fails_three_times(context: Any, now: int, channel: str, wanted: Any, bytes_max: int, on_read: Any) -> None:
        asked.append(now)
        if len(asked) <= 3:
            on_read(now, None)
        else:
            fetch_snapshot(context, now, channel, wanted, bytes_max, on_read)

    monkeypatch.setattr(metadata_follower, "fetch_snapshot", fails_three_times)
    line = cluster.simulation.line(cluster.process(1), cluster.process(CONTROLLER_ID))
    line.take_down()
    for number in range(10):
        cluster.begin_create_topic(f"t{number}", 3)
        cluster.simulation.run_for(span_s=2)
    line.bring_up()
    cluster.simulation.run_until(lambda: "t9" in cluster.broker(1).context.image.topics)
    assert len(asked) == 4
    assert all(later - earlier >= 100 * MILLISECOND for earlier, later in pairwise(asked))
