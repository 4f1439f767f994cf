"""What may a site lose with its power? Where each replica had flushed to, and the log with which a leader goes on."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.ids import TopicPartition
from kmirror.log.disk import MemoryDisk
from kmirror.log.memory_store import MemoryStore
from kmirror.records.legacy import iter_any_batches
from kmirror.sim.history.account import LogSeen, PowerLoss
from kmirror.sim.history.scene import Scene

See = Callable[[str, Partition], LogSeen]
"""Return a leader's log in a cluster, with all rows up to its end."""


class PowerLooks:
    """Writes down what sites lose with their power, and who leads afterwards."""

    def __init__(self, scene: Scene, see: See) -> None:
        self._scene = scene
        self._see = see
        self._awaited: list[PowerLoss] = []

    def before_loss(self, cluster: str) -> None:
        """Look at every replica of a cluster all of whose nodes are about to lose power."""
        scene, found = self._scene, self._scene.clusters[cluster]
        for tp in scene.partitions(cluster):
            replicas = found.replicas(tp)
            kept = {broker_id: self._flushed_to(found.log_dirs[broker_id], tp) for broker_id in replicas}
            ends = {broker_id: replica.log.log_end_offset for broker_id, replica in replicas.items()}
            loss = PowerLoss(cluster, tp, kept, ends, scene.now)
            scene.account.power_losses.append(loss)
            self._awaited.append(loss)

    def after_event(self) -> None:
        """Look at the leaders that have begun since."""
        for loss in list(self._awaited):
            leader = self._scene.leader(loss.cluster, loss.tp)
            if leader is not None:
                self._awaited.remove(loss)
                loss.heir = self._see(loss.cluster, leader)

    def _flushed_to(self, disks: list[MemoryDisk], tp: TopicPartition) -> int:
        return next((_flushed_to(disk.open(tp)) for disk in disks if disk.is_open(tp)), 0)


def _flushed_to(store: MemoryStore) -> int:
    """Return the offset below which a power cut leaves all batches."""
    end = 0
    for base_offset in store.segments():
        flushed = store.flushed_size(base_offset)
        end = max(end, base_offset)
        for batch in iter_any_batches(store.view(base_offset)):
            flushed -= batch.size_in_bytes
            if flushed < 0:
                return end
            end = batch.last_offset + 1
    return end
