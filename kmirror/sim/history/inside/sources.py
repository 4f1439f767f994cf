"""Who leads a mirrored partition at its source, and may the mirror's log be compared with that leader's?"""

from __future__ import annotations

from kmirror.cluster.replication.partition import Partition
from kmirror.kernel.clock import MILLISECOND
from kmirror.mirror.context import MirrorContext
from kmirror.sim.history.inside.mirrored import Seen
from kmirror.sim.history.scene import Scene

IN_FLIGHT_MS = 10_000
"""No answer of the source is older than this when it is taken in."""


class Sources:
    """Looks up the other side of mirrored partitions."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene

    def cluster_of(self, context: MirrorContext, mirror: str) -> str:
        """Return the name of the cluster that a mirror's source turned out to be; empty if that is not known."""
        source = context.sources.get(mirror)
        known = None if source is None else source.cluster_id
        return next((name for name, found in self._scene.clusters.items() if found.cluster_id == known), "")

    def leader_of(self, now: Seen) -> Partition | None:
        """Return the source's leader if it still leads in the epoch that the mirror knows, and has not been cut since.

        What it answered in that epoch is then in its log.
        """
        source = self.cluster_of(now.context, now.mp.assignment.mirror)
        leader = self._scene.leader(source, now.mp.tp) if source else None
        if leader is None or leader.leader_epoch != max(now.mp.source_epoch, now.mp.source_lineage_epoch):
            return None
        since = self._scene.now - IN_FLIGHT_MS * MILLISECOND
        cuts = self._scene.account.cuts
        is_cut = any(cut.at >= since and (cut.cluster, cut.tp) == (source, leader.tp) for cut in cuts[-20:])
        return None if is_cut else leader
