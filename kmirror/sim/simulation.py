"""`Simulation`: the root object of a simulated run, and the means to control it from scripts.

    with Simulation(seed=7) as simulation, Cluster(simulation, "a") as a:
        a.create_topic("orders")

    simulation.on(LogCut, lambda seen: print(seen.at_ms, seen.cluster, seen.fact))     # kinds: kmirror.sim.facts
    simulation.at(5.0, lambda: a.kill(2))                                              # five seconds into the run
    simulation.at(lambda: not a.runs(2), simulation.line(a, b).take_down)              # once this holds

Every exception that leaves the `with` block of a simulation has a note with seed and virtual time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, cast

from kmirror.errors import KafkaError, SimulationFailure, UsageError
from kmirror.kernel.arguments import callback, instance, seconds, shown, whole_number
from kmirror.kernel.clock import SECOND, Duration
from kmirror.kernel.rng import SEED_MAX
from kmirror.sim.disk_work import DiskOptions
from kmirror.sim.lines import Line
from kmirror.sim.network import NetworkOptions
from kmirror.sim.watching import Planned, Seen
from kmirror.sim.world import START, World
from kmirror.spec.error_codes import ErrorCode

if TYPE_CHECKING:
    from types import TracebackType


F = TypeVar("F")


class Site(Protocol):
    """Part of the network, such as a cluster."""

    @property
    def name(self) -> str: ...


class Simulation:
    """One run. The same seed and the same script give the same run, byte for byte."""

    def __init__(
        self, seed: int = 0, *, network: NetworkOptions | None = None, disk: DiskOptions | None = None
    ) -> None:
        """Raise UsageError for a seed that is not an integer from 0 to 2**64 - 1."""
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
        """Hash (64 hex digits) of all events so far."""
        return self.world.trace.digest()

    @property
    def now_ms(self) -> int:
        """Simulated time in milliseconds since 1970; it starts at the beginning of 2027."""
        return self.world.now // 1000

    def failure(self, message: str) -> SimulationFailure:
        """Return an exception that contains this run's seed and the current virtual time."""
        return self.world.failure(message)

    def kafka_error(self, code: ErrorCode, message: str) -> KafkaError:
        """Return the error for a response with `code`; its text contains seed and virtual time."""
        return KafkaError(code, f"{message} ({self.world.moment})")

    def run_for(self, *, span_s: float) -> None:
        """Run for `span_s` seconds of virtual time."""
        self.world.run_for(span_us=round(seconds("span_s", span_s) * SECOND))

    def run_until(self, condition: Callable[[], bool], *, within_s: float = 60, what: str = "a condition") -> None:
        """Run until `condition` holds; SimulationFailure after `within_s` virtual seconds."""
        callback("condition", condition)
        within_us: Duration = round(seconds("within_s", within_s) * SECOND)
        self.world.run_until(condition, within_us=within_us, what=what)

    # -- watching and control -----------------------------------------------------------------

    @property
    def elapsed_s(self) -> float:
        """Seconds of virtual time since the run began."""
        return self.world.elapsed_us / SECOND

    def on(self, kind: type[F], call: Callable[[Seen[F]], None]) -> Planned:
        """Call `call` with every fact of `kind` from now on, after the event that caused it.

        The kinds are in `kmirror.sim.facts`; `object` matches all. The callback may act but not wait: it can start
        admin requests, kill nodes and take lines down. An exception it raises, such as an AssertionError, ends the call
        that runs the world.
        """
        _check_kind(kind)
        callback("call", call)
        return self.world.watchers.on(kind, call)

    def facts(self, kind: type[F]) -> list[Seen[F]]:
        """Return the facts of `kind` since the run began, in order."""
        _check_kind(kind)
        return [cast("Seen[F]", seen) for seen in self.world.watchers.facts if isinstance(seen.fact, kind)]

    def at(self, when: float | Callable[[], bool], action: Callable[[], None]) -> Planned:
        """Schedule `action` for an instant, or for the first event after which a condition holds.

        An instant is in seconds since the run began: `simulation.at(simulation.elapsed_s + 2, action)` is two seconds
        from now. Raises UsageError for an instant in the past. As with `on`, the action may not wait.
        """
        callback("action", action)
        if callable(when):
            return self.world.watchers.once(when, action)
        instant = START + round(seconds("when", when) * SECOND)
        if instant < self.world.now:
            raise UsageError(f"{when} s has passed, it is {self.elapsed_s:.6f} s: name a later time")
        planned = Planned()
        self.world.at(instant, lambda: None if planned.is_cancelled else action())
        return planned

    def step(self) -> bool:
        """Execute only the next event, such as the arrival of a request; return False if there is none."""
        return self.world.step()

    def line(self, one: Site | str, other: Site | str, *, one_way: bool = False) -> Line:
        """Return the line between two clusters or nodes; with `one_way`, only the direction from `one` to `other`.

        A node is named as in the trace: `a-1` is broker 1 of cluster a, `a-controller` its controller. A line from a
        cluster to itself contains the lines between all its nodes. Raises UsageError for an unknown name, and for a
        node and itself.
        """
        for place in (one, other):
            if not isinstance(place, str) and getattr(place, "simulation", None) is not self:
                raise UsageError(f"a line ends at a cluster of this simulation or at a node's name, not at {place!r}")
        ends = [place if isinstance(place, str) else place.name for place in (one, other)]
        known = self.world.network.places()
        for place in ends:
            if place not in known:
                raise UsageError(f"there is no cluster and no node {place!r}; there are: {', '.join(known)}")
        if ends[0] == ends[1] in self.world.processes:
            raise UsageError(f"there is no line between {ends[0]!r} and itself: name another node, or a cluster")
        return Line(self.world, ends[0], ends[1], one_way)


def _check_kind(kind: object) -> None:
    if not isinstance(kind, type):
        raise UsageError(f"kind is a class of kmirror.sim.facts, or object for all of them, not {shown(kind)}")
