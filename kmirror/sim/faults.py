"""Planned faults: brokers that are killed and restarted."""

from __future__ import annotations

from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.rng import Rng
from kmirror.sim.cluster import Cluster


class FaultPlan:
    """Kills a random broker of a cluster after a short delay and restarts it some seconds later, one at a time."""

    def __init__(self, cluster: Cluster, rng: Rng) -> None:
        self._cluster = cluster
        self._rng = rng
        self.busy = False

    def strike(self) -> None:
        """Plan a kill, unless one is planned or a broker is already down."""
        if self.busy or len(self._cluster.living()) < len(self._cluster.broker_ids):
            return
        self.busy = True
        victim = self._rng.choice(self._cluster.living())
        world = self._cluster.simulation.world
        down_at = world.now + self._rng.between(0, 1500) * MILLISECOND
        up_at = down_at + self._rng.between(200, 15_000) * MILLISECOND

        def restart() -> None:
            self._cluster.restart(victim)
            self.busy = False

        world.at(down_at, lambda: self._cluster.kill(victim))
        world.at(up_at, restart)
