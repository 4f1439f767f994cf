"""`Simulation`: the root of everything simulated, and what scripts steer it with.

    with Simulation(seed=7) as simulation, Cluster(simulation, "a") as a:
        a.create_topic("orders")

Whatever exception leaves the `with` block of a simulation bears a note with seed and virtual time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, Self

from kmirror.errors import KafkaError, SimulationFailure
from kmirror.kernel.arguments import callback, instance, seconds, whole_number
from kmirror.kernel.clock import SECOND, Duration
from kmirror.kernel.rng import SEED_MAX
from kmirror.sim.disk_work import DiskOptions
from kmirror.sim.network import NetworkOptions
from kmirror.sim.world import World
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from types import TracebackType


class Site(Protocol):
    """A part of the network, such as a cluster."""

    @property
    def name(self) -> str: ...


class Simulation:
    """One run. The same seed and the same script give the same run, byte for byte."""

    def __init__(
        self, seed: int = 0, *, network: NetworkOptions | None = None, disk: DiskOptions | None = None
    ) -> None:
        """Raise UsageError for a seed that is no whole number from 0 to 2**64 - 1."""
        if network is not None:
            instance("network", network, NetworkOptions)
        if disk is not None:
            instance("disk", disk, DiskOptions)
        self.seed = whole_number("seed", seed, 0, SEED_MAX)
        self.world = World(seed, network, disk)
        self.cluster_names: list[str] = []

    def __repr__(self) -> str:
        return f"<Simulation {self.world.moment}, clusters: {', '.join(self.cluster_names) or 'none'}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self.world.moment not in str(error):
            error.add_note(self.world.moment)

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

    def refusal(self, code: ErrorCode, message: str) -> KafkaError:
        """Return an exception for an answer with `code`; its text names this run's seed and the present instant."""
        return KafkaError(code, f"{message} ({self.world.moment})")

    def run_for(self, *, span_s: float) -> None:
        """Let `span_s` seconds of virtual time pass."""
        self.world.run_for(span_us=round(seconds("span_s", span_s) * SECOND))

    def run_until(self, condition: Callable[[], bool], *, within_s: float = 60, what: str = "a condition") -> None:
        """Run until `condition` holds; SimulationFailure after `within_s` virtual seconds."""
        callback("condition", condition)
        within_us: Duration = round(seconds("within_s", within_s) * SECOND)
        self.world.run_until(condition, within_us=within_us, what=what)

    def cut(self, one: Site, other: Site) -> None:
        """Lose everything that is sent between two clusters from now on."""
        self.world.network.cut(one.name, other.name)
        self.world.trace.add(self.world.now, "network", f"cut {one.name} {other.name}")

    def heal(self, one: Site, other: Site) -> None:
        self.world.network.heal(one.name, other.name)
        self.world.trace.add(self.world.now, "network", f"healed {one.name} {other.name}")
