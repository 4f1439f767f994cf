"""Access to the stores on a broker's disks, whether the broker runs or not; it changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from kmirror.cluster.replication.log_recovery import belongs_to_topic
from kmirror.errors import CorruptBatch
from kmirror.kernel.ids import TopicPartition
from kmirror.kernel.uuid import Uuid
from kmirror.log.memory_store import MemoryStore
from kmirror.log.store import PartitionStore
from kmirror.records.legacy import AnyBatch, iter_any_batches
from kmirror.sim.cluster import Cluster


def partition_stores(cluster: Cluster, broker_id: int, tp: TopicPartition, topic_id: Uuid) -> list[MemoryStore]:
    """Return the stores of a partition at a broker; none on a disk that has failed.

    Stores of a deleted topic at a broker that is down do not count: the broker deletes them when it starts.
    """
    found = []
    for disk in cluster.log_dirs[broker_id]:
        if disk.is_open(tp):
            with suppress(OSError):
                found.append(disk.open(tp))
    return [store for store in found if belongs_to_topic(store, topic_id) is not False]


def whole_batches(store: PartitionStore) -> Iterator[AnyBatch]:
    """Yield the batches of a log up to one torn by a power cut, which the broker truncates when it starts."""
    with suppress(CorruptBatch):
        for base_offset in store.segments():
            yield from iter_any_batches(store.view(base_offset))


def end_offset(store: MemoryStore, *, flushed: bool) -> int:
    """Return the end offset of a log on the disk, or with `flushed` the end that surely survives a power cut.

    A torn batch and everything after it do not count: the broker truncates them when it starts.
    """
    end = 0
    with suppress(CorruptBatch):
        for base_offset in store.segments():
            left = store.flushed_size(base_offset) if flushed else store.size(base_offset)
            end = max(end, base_offset)
            for batch in iter_any_batches(store.view(base_offset)):
                left -= batch.size_in_bytes
                if left < 0:
                    return end
                end = batch.last_offset + 1
    return end
