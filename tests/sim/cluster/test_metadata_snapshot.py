"""A metadata log whose beginning Kafka has deleted: the controller and every broker read the snapshot."""

from __future__ import annotations

import pytest

import kmirror
from kmirror.assembly.cluster_view import CONTROLLER_ID
from kmirror.cluster.broker import metadata_follower
from kmirror.cluster.metadata.log import CONFIG, METADATA_PARTITION
from kmirror.kernel.failures import GaveUp
from kmirror.kernel.ids import TopicPartition
from kmirror.log.memory_store import MemoryStore
from kmirror.log.partition_log import PartitionLog

FULL = TopicPartition("full", 0)


def stopped_cluster() -> kmirror.Cluster:
    """Return a stopped cluster of two brokers that has a topic with a record."""
    cluster = kmirror.Cluster(kmirror.Simulation(seed=31), "a", brokers=2)
    cluster.start()
    cluster.create_topic("full", 3, configs={"retention.ms": "-1"})
    cluster.produce("full", 0, [b"one"])
    cluster.create_topic("later")
    cluster.stop()
    return cluster


def cut(cluster: kmirror.Cluster, *, tail: int, has_snapshot: bool = True) -> int:
    """Leave only the last `tail` batches of the metadata log, and a snapshot of the rest; return its end offset."""
    disk = cluster.log_dirs[CONTROLLER_ID][0]
    whole = PartitionLog.open(METADATA_PARTITION, disk.open(METADATA_PARTITION), CONFIG, now_ms=0)
    batches = list(whole.batches())
    end_offset = batches[-tail].base_offset if tail else whole.log_end_offset
    before = [batch for batch in batches if batch.base_offset < end_offset]
    store = MemoryStore()
    log = PartitionLog.open(METADATA_PARTITION, store, CONFIG, now_ms=0)
    log.truncate_fully_and_start_at(end_offset)
    for batch in batches[len(before) :]:
        log.append_as_follower(bytes(batch.view), max_epoch=2**31 - 1)
    log.close()
    if has_snapshot:
        name = f"{end_offset:020}-{before[-1].partition_leader_epoch:010}.checkpoint"
        store.write_file(f"{1:020}-{0:010}.checkpoint", b"")  # An older one, which is ignored.
        store.write_file(name, b"".join(bytes(batch.view) for batch in before))
    disk.put(METADATA_PARTITION, store)
    return end_offset


@pytest.mark.parametrize("tail", [0, 1, 5])
@pytest.mark.parametrize("piece", [None, 100, 1_000])
def test_a_cluster_starts_with_the_state_of_snapshot_and_log(
    tail: int, piece: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if piece is not None:
        monkeypatch.setattr(metadata_follower, "BYTES_MAX", piece)
    cluster = stopped_cluster()
    before = cluster.image
    end_offset = cut(cluster, tail=tail)
    cluster.start()
    for broker_id in cluster.broker_ids:
        image = cluster.broker(broker_id).context.image
        assert {name: topic.topic_id for name, topic in image.topics.items()} == {
            name: topic.topic_id for name, topic in before.topics.items()
        }
        assert image.configs.topic("full") == {"retention.ms": "-1"} and image.offset > end_offset
    assert [record.value for record in cluster.read(FULL)] == [b"one"]
    cluster.create_topic("new")
    cluster.stop()
    cluster.start()
    assert cluster.topics() == ["full", "later", "new"]


def test_the_log_may_continue_in_a_later_epoch_than_its_snapshot() -> None:
    cluster = stopped_cluster()
    cluster.start()
    cluster.stop()
    store = cluster.log_dirs[CONTROLLER_ID][0].open(METADATA_PARTITION)
    log = PartitionLog.open(METADATA_PARTITION, store, CONFIG, now_ms=0)
    epochs = [batch.partition_leader_epoch for batch in log.batches()]
    assert epochs[0] < epochs[-1]
    cut(cluster, tail=epochs.count(epochs[-1]))
    cluster.start()
    assert cluster.topics() == ["full", "later"]
    assert all(len(cluster.broker(id_).context.image.topics) == 2 for id_ in cluster.broker_ids)


def test_a_log_ending_below_its_snapshot_restarts_at_its_end() -> None:
    cluster = stopped_cluster()
    end_offset = cut(cluster, tail=0)
    store = cluster.log_dirs[CONTROLLER_ID][0].open(METADATA_PARTITION)
    [name] = [name for name in store.files() if name.startswith(f"{end_offset:020}-")]
    data = store.read_file(name)
    assert data is not None
    emptied = MemoryStore()
    emptied.write_file(name, data)
    cluster.log_dirs[CONTROLLER_ID][0].put(METADATA_PARTITION, emptied)
    cluster.start()
    assert cluster.topics() == ["full", "later"]
    assert cluster.controller.context.log.log.log_start_offset == end_offset


def test_a_log_without_its_beginning_and_without_a_snapshot_is_refused() -> None:
    cluster = stopped_cluster()
    end_offset = cut(cluster, tail=1, has_snapshot=False)
    told: list[str] = []
    cluster.simulation.on(GaveUp, lambda seen: told.append(seen.fact.reason))
    with pytest.raises(kmirror.SimulationFailure):
        cluster.start()
    assert f"begins at offset {end_offset}, and no snapshot has the records before it" in told[0]
