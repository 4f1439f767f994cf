"""A broker checkpoints the high watermarks of the logs in which they changed, not of all its logs."""

from __future__ import annotations

import pytest

import kmirror
from kmirror.kernel.ids import TopicPartition
from kmirror.log.memory_store import MemoryStore
from kmirror.log.store import HIGH_WATERMARK

PARTITIONS = 40
INTERVAL_S = 5
"""`replica.high.watermark.checkpoint.interval.ms`."""


def test_a_checkpoint_writes_only_changed_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = kmirror.Simulation(seed=1)
    cluster = kmirror.Cluster(simulation, "a", brokers=3)
    cluster.start()
    cluster.create_topic("t", PARTITIONS)
    simulation.run_for(span_s=2 * INTERVAL_S)
    written: list[MemoryStore] = []
    original = MemoryStore.write_file

    def write_file(store: MemoryStore, name: str, data: bytes) -> None:
        written.append(store)
        original(store, name, data)

    monkeypatch.setattr(MemoryStore, "write_file", write_file)
    simulation.run_for(span_s=6 * INTERVAL_S)
    assert not written

    tp = TopicPartition("t", 7)
    cluster.produce("t", 7, [b"v"])
    simulation.run_for(span_s=2 * INTERVAL_S)
    assert {id(store) for store in written} == {
        id(cluster.log_dirs[broker][0].open(tp)) for broker in cluster.broker_ids
    }
    stored = {cluster.log_dirs[broker][0].open(tp).read_file(HIGH_WATERMARK) for broker in cluster.broker_ids}
    assert stored == {b"1"}
