"""Observation of a site's loss of power: the flushed end of each replica, and the log of the next leader."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.cluster.node.partition import Partition
from kmirror.histories.account import ObservedLog, PowerLoss
from kmirror.histories.scene import Scene
from kmirror.histories.stores import end_offset, partition_stores

ReadLog = Callable[[str, Partition], ObservedLog]
"""Returns a leader's log in a cluster, with all rows up to its end."""


class PowerObserver:
    """Records unflushed data before sites lose power, and the leaders afterwards."""

    def __init__(self, scene: Scene, read_log: ReadLog) -> None:
        self._scene = scene
        self._read_log = read_log
        self._awaited: list[PowerLoss] = []

    def before_loss(self, cluster: str) -> None:
        """Record the flushed and unflushed ends of a cluster's logs before its nodes lose power; brokers may still be
        starting.

        A topic that flushes every record before it acknowledges it loses none, and is left out.
        """
        scene, found = self._scene, self._scene.clusters[cluster]
        for tp in scene.partitions(cluster):
            if scene.image(cluster).configs.topic(tp.topic).get("flush.messages", "1") == "1":
                continue
            topic_id = scene.image(cluster).topics[tp.topic].topic_id
            stores = {
                broker_id: store
                for broker_id in found.living()
                for store in partition_stores(found, broker_id, tp, topic_id)
            }
            kept = {broker_id: end_offset(store, flushed=True) for broker_id, store in stores.items()}
            ends = {broker_id: end_offset(store, flushed=False) for broker_id, store in stores.items()}
            loss = PowerLoss(cluster, tp, kept, ends, scene.now)
            scene.account.power_losses.append(loss)
            self._awaited.append(loss)

    def after_event(self) -> None:
        """Record the logs of the leaders that have begun since."""
        for loss in list(self._awaited):
            leader = self._scene.leader(loss.cluster, loss.tp)
            if leader is not None:
                self._awaited.remove(loss)
                loss.successor_log = self._read_log(loss.cluster, leader)
