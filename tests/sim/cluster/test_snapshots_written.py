"""A controller writes snapshots of its log, shortens it, and loses nothing; nor do brokers that were offline."""

from __future__ import annotations

import pytest

import kmirror
from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker import metadata_follower
from kmirror.cluster.images import MetadataImage
from kmirror.cluster.metadata.log import METADATA_PARTITION
from kmirror.cluster.metadata.snapshots import SnapshotId, WriteSnapshot, snapshot_ids
from kmirror.kernel.ids import TopicPartition
from kmirror.log.memory_store import MemoryStore
from kmirror.protocol.gen.delete_topics_request import DeleteTopicsRequest, DeleteTopicState

OFTEN = {"metadata.log.max.record.bytes.between.snapshots": "1000", "internal.metadata.log.segment.bytes": "1500"}
SHORT = {**OFTEN, "metadata.max.retention.bytes": "1"}


def cluster_of(brokers: int = 2, **configs: str) -> kmirror.Cluster:
    given = {name.replace("_", "."): value for name, value in configs.items()}
    cluster = kmirror.Cluster(kmirror.Simulation(seed=47), "a", brokers=brokers, configs=given)
    cluster.start()
    return cluster


def store_of(cluster: kmirror.Cluster) -> MemoryStore:
    return cluster.log_dirs[CONTROLLER_ID][0].open(METADATA_PARTITION)


def facts(image: MetadataImage) -> tuple[object, ...]:
    return (
        image.brokers,
        image.topics,
        image.configs,
        image.features,
        image.producer_ids.next_producer_id,
        image.topics.names,
    )


def delete(cluster: kmirror.Cluster, topic: str) -> None:
    answer = cluster.order(DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=30_000))
    assert not answer.responses[0].error_code  # type: ignore[attr-defined]


def settle(cluster: kmirror.Cluster) -> None:
    """Run until every broker has replayed the controller's log."""
    cluster.simulation.run_until(
        lambda: all(
            cluster.broker(id_).context.image.offset == cluster.controller.image.offset for id_ in cluster.broker_ids
        )
    )


@pytest.mark.parametrize("configs", [OFTEN, SHORT, {**OFTEN, "metadata.max.retention.ms": "1"}])
def test_a_controller_started_from_a_snapshot_has_its_former_state(configs: dict[str, str]) -> None:
    cluster = cluster_of(**configs)
    for number in range(12):
        cluster.create_topic(f"t{number}", 3, configs={"retention.ms": str(number + 1)})
        cluster.simulation.run_for(span_s=1)
        if number % 3 == 0:
            delete(cluster, f"t{number}")
    log = cluster.controller.context.log
    assert len(snapshot_ids(store_of(cluster))) == len(log.snapshots) >= 1
    assert (log.log.log_start_offset > 0) == (configs is not OFTEN) == (min(store_of(cluster).segments()) > 0)
    before = cluster.controller.image
    cluster.kill(CONTROLLER_ID)
    cluster.restart(CONTROLLER_ID)
    cluster.simulation.run_until(lambda: cluster.controller.is_open)
    assert facts(cluster.controller.image) == facts(before)
    settle(cluster)
    cluster.stop()
    cluster.start()
    assert cluster.topics() == sorted(f"t{number}" for number in range(12) if number % 3)
    cluster.create_topic("t0")
    for broker_id in cluster.broker_ids:
        assert cluster.broker(broker_id).context.image.configs.topic("t11") == {"retention.ms": "12"}


@pytest.mark.parametrize("piece", [300, metadata_follower.BYTES_MAX])
def test_a_broker_offline_for_long_reads_the_snapshot(piece: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata_follower, "BYTES_MAX", piece)
    cluster = cluster_of(3, **SHORT)
    cluster.create_topic("kept")
    cluster.create_topic("again")
    cluster.create_topic("gone")
    cluster.produce("kept", 0, [b"one"])
    cluster.produce("again", 0, [b"old"])
    line = cluster.simulation.line(cluster.process(1), cluster.process(CONTROLLER_ID))
    line.take_down()
    delete(cluster, "gone")
    delete(cluster, "again")
    cluster.create_topic("again")
    for number in range(10):
        cluster.create_topic(f"t{number}", 3)
        cluster.simulation.run_for(span_s=2)
    behind = cluster.broker(1).context.image
    assert behind.offset < cluster.controller.context.log.log.log_start_offset
    line.bring_up()
    settle(cluster)
    assert cluster.broker(1).context.image is behind, "whoever holds the image has the new one"
    assert facts(behind) == facts(cluster.controller.image)
    held = cluster.broker(1).parts.replicas.partitions
    assert TopicPartition("gone", 0) not in held and TopicPartition("t9", 2) in held
    assert held[TopicPartition("again", 0)].topic_id == cluster.image.topics["again"].topic_id
    cluster.produce("again", 0, [b"new"])
    assert [record.value for record in cluster.read(TopicPartition("again", 0))] == [b"new"]
    assert [record.value for record in cluster.read(TopicPartition("kept", 0))] == [b"one"]
    cluster.simulation.run_until(lambda: held[TopicPartition("again", 0)].log.log_end_offset == 1)


def test_a_snapshot_is_served_to_its_reader_although_a_newer_one_exists() -> None:
    cluster = cluster_of(**OFTEN)
    for number in range(8):
        cluster.create_topic(f"t{number}", 3)
        cluster.simulation.run_for(span_s=1)
    log = cluster.controller.context.log
    oldest, *_, newest = log.snapshots
    for id_ in (oldest, newest):
        data = log.snapshot_data(id_)
        assert data is not None and data == store_of(cluster).read_file(id_.file_name)
        assert len(data) == log.snapshots[id_].size
    assert log.snapshot_data(SnapshotId(oldest.end_offset, oldest.epoch + 1)) is None


def test_a_snapshot_is_written_by_the_clock_if_there_is_anything_new() -> None:
    cluster = cluster_of(**{"metadata.log.max.snapshot.interval.ms": "60000"})
    cluster.create_topic("one")
    cluster.simulation.run_for(span_s=200)
    [only] = snapshot_ids(store_of(cluster))
    cluster.create_topic("two")
    cluster.simulation.run_for(span_s=61)
    assert len(snapshot_ids(store_of(cluster))) == 2
    cluster.kill(CONTROLLER_ID, power_cut=True)
    cluster.restart(CONTROLLER_ID)
    cluster.simulation.run_for(span_s=1)
    assert cluster.topics() == ["one", "two"] and only in cluster.controller.context.log.snapshots


def test_a_snapshot_that_cannot_be_written_is_written_later() -> None:
    cluster = cluster_of(**{"metadata.log.max.snapshot.interval.ms": "60000"})
    cluster.create_topic("one")
    world = cluster.simulation.world
    world.disk_workers.fail_next(
        cluster.process(CONTROLLER_ID), OSError("full"), lambda work: isinstance(work.job, WriteSnapshot)
    )
    cluster.simulation.run_for(span_s=65)
    assert snapshot_ids(store_of(cluster)) == [] and cluster.runs(CONTROLLER_ID)
    cluster.simulation.run_for(span_s=60)
    assert len(snapshot_ids(store_of(cluster))) == 1
