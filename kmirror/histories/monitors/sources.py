"""Search for a mirrored partition's source: its cluster, and its leader if the logs can be compared."""

from __future__ import annotations

from kmirror.cluster.node.partition import Partition
from kmirror.histories.monitors.mirrored_partitions import PartitionSnapshot
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import MILLISECOND
from kmirror.mirror.context import MirrorContext

IN_FLIGHT_MS = 10_000
"""Maximum age of a source's response when the mirror processes it."""


class Sources:
    """Finds the source cluster and the source's leader of mirrored partitions."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def source_cluster(self, context: MirrorContext, mirror: str) -> str:
        """Return the name of the cluster that a mirror has found as its source; empty if it is not known."""
        source = context.sources.get(mirror)
        known = None if source is None else source.cluster_id
        return next((name for name, found in self._scene.clusters.items() if found.cluster_id == known), "")

    def source_leader(self, after: PartitionSnapshot) -> Partition | None:
        """Return the source's leader if its log must contain its responses in the epoch that the mirror knows.

        Return None if it leads in another epoch, or if its log was cut or its topic deleted recently.
        """
        source = self.source_cluster(after.context, after.mp.assignment.mirror)
        leader = self._scene.leader(source, after.mp.tp) if source else None
        if leader is None or leader.leader_epoch != max(after.mp.source_epoch, after.mp.source_lineage_epoch):
            return None
        since = self._scene.now - IN_FLIGHT_MS * MILLISECOND
        account = self._scene.account
        is_cut = any(cut.at >= since and (cut.cluster, cut.tp) == (source, leader.tp) for cut in account.cuts[-20:])
        is_deleted = any(
            row.at >= since and (row.cluster, row.topic, row.exists) == (source, leader.tp.topic, False)
            for row in account.topics[-20:]
        )
        return None if is_cut or is_deleted else leader
