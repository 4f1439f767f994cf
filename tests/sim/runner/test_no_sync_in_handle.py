"""No node waits for a disk while it handles an event: with folders on disk, only jobs sync."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

import pytest

from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker.broker import Broker
from kmirror.cluster.controller.controller import Controller
from kmirror.kernel.ids import TopicPartition
from kmirror.log.config import LogConfig
from kmirror.log.partition_log import PartitionLog
from kmirror.log.store import CLEANER_OFFSET
from kmirror.logdir.store import LogFolder
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from kmirror.records.build import build_batch
from kmirror.records.record import RecordData
from kmirror.sim.cluster import Cluster
from kmirror.sim.producer import Producer
from kmirror.sim.simulation import Simulation
from tests.folder_checks import assert_verified
from tests.sim.runner.test_folders import Folders

ORDERS = TopicPartition("orders", 0)
STATES = TopicPartition("states", 0)
CONFIGS = {
    "metadata.log.max.record.bytes.between.snapshots": "2000",
    "internal.metadata.log.segment.bytes": "2000",
    "metadata.max.retention.bytes": "1",
    "log.cleaner.backoff.ms": "1000",
    "log.initial.task.delay.ms": "1000",
    "log.retention.check.interval.ms": "1000",
    "log.segment.delete.delay.ms": "1000",
    "replica.lag.time.max.ms": "2000",
}


@pytest.fixture
def syncs_in_handle(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Syncs while a node handled an event, each with its stack."""
    found: list[str] = []
    inside: list[object] = []
    for kind in (Broker, Controller):

        def handle(self, now, event, was=kind.handle):  # type: ignore[no-untyped-def]
            inside.append(self)
            try:
                return was(self, now, event)
            finally:
                inside.pop()

        monkeypatch.setattr(kind, "handle", handle)
    fsync = os.fsync

    def record_sync(descriptor: int) -> None:
        if inside:
            found.append("".join(traceback.format_stack()[-12:]))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", record_sync)
    return found


def leave_more(folder: Path, tp: TopicPartition) -> int:
    """Add a record to the log of a broker that is down, which its leader lacks; return the log's new end."""
    with LogFolder(folder) as opened:
        log = PartitionLog.open(tp, opened.open(tp), LogConfig(), now_ms=0, repair=True)
        epoch = log.latest_epoch
        log.append_as_leader(build_batch([RecordData(value=b"mine")]), leader_epoch=epoch, now_ms=0)
        log.close()
        return log.log_end_offset


def test_nothing_is_synced_while_an_event_is_handled(tmp_path: Path, syncs_in_handle: list[str]) -> None:
    disks = Folders(tmp_path)
    cluster = Cluster(Simulation(seed=5), "a", brokers=3, disks=disks, configs=CONFIGS)
    cluster.start()
    compacted = {"cleanup.policy": "compact", "internal.segment.bytes": "1000", "min.cleanable.dirty.ratio": "0.01"}
    cluster.create_topic("orders", configs={"internal.segment.bytes": "400", "retention.bytes": "600"})
    cluster.create_topic("states", configs=compacted)
    producer = Producer(cluster)
    for number in range(20):
        cluster.produce("orders", 0, [b"%d" % number])
        producer.send({STATES: [RecordData(key=b"k", value=b"v" * 300)]})
    cluster.simulation.run_for(span_s=10)
    leader, states = cluster.leader(ORDERS), cluster.leader(STATES)
    assert leader is not None and leader.log.log_start_offset > 0, "segments went"
    assert states is not None and states.log.store.read_file(CLEANER_OFFSET), "the cleaner was there"
    behind = next(number for number in cluster.broker_ids if number != leader.image.leader)
    cluster.kill(behind)
    longer = leave_more(disks.path(behind), ORDERS)
    cluster.restart(behind)
    assert longer == leader.log.log_end_offset + 1
    held = cluster.broker(behind).parts.replicas.partitions
    cluster.simulation.run_until(lambda: ORDERS in held and held[ORDERS].log.log_end_offset < longer)
    cluster.produce("orders", 0, [b"more"])
    cluster.simulation.run_until(lambda: held[ORDERS].log.log_end_offset == longer)
    cluster.order(DeleteTopicsRequest(topics=[DeleteTopicState(name="states")], timeout_ms=30_000))
    cluster.create_topic("states")
    cluster.produce("states", 0, [b"new"])
    assert len(cluster.controller.context.log.snapshots) == 1
    cluster.stop()
    disks.close()
    assert syncs_in_handle == [], syncs_in_handle[0]
    for node_id in (*cluster.broker_ids, CONTROLLER_ID):
        assert_verified(disks.path(node_id), "--deep")
