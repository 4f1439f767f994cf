"""`Simulation`: the root of everything simulated, and what scripts steer it with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kmirror.errors import SimulationFailure
from kmirror.kernel.clock import SECOND, Duration
from kmirror.sim.network import NetworkOptions
from kmirror.sim.world import World

if TYPE_CHECKING:
    from kmirror.sim.cluster import Cluster


class Simulation:
    """One run. The same seed and the same script give the same run, byte for byte."""

    def __init__(self, seed: int = 0, *, network: NetworkOptions | None = None) -> None:
        self.seed = seed
        self.world = World(seed, network)
        self.clusters: dict[str, Cluster] = {}

    @property
    def digest(self) -> str:
        """Return 64 hex digits that name everything that happened so far."""
        return self.world.trace.digest()

    @property
    def now_ms(self) -> int:
        return self.world.now // 1000

    def failure(self, message: str) -> SimulationFailure:
        """Return an exception that names this run's seed and the present instant."""
        return self.world.failure(message)

    def run_for(self, seconds: float) -> None:
        """Let virtual time pass."""
        self.world.run_for(round(seconds * SECOND))

    def run_until(self, condition: Callable[[], bool], *, within: float = 60, what: str = "a condition") -> None:
        """Run until `condition` holds; SimulationFailure after `within` virtual seconds."""
        span: Duration = round(within * SECOND)
        self.world.run_until(condition, within=span, what=what)

    def cut(self, one: Cluster, other: Cluster) -> None:
        """Lose everything that is sent between two clusters from now on."""
        self.world.network.cut(one.name, other.name)
        self.world.trace.add(self.world.now, "network", f"cut {one.name} {other.name}")

    def heal(self, one: Cluster, other: Cluster) -> None:
        self.world.network.heal(one.name, other.name)
        self.world.trace.add(self.world.now, "network", f"healed {one.name} {other.name}")
