"""Network lines between clusters or nodes, which scripts can change during a run.

    simulation.line(a, b).take_down()                               # clusters, both directions
    simulation.line("a-1", "a-controller", one_way=True).take_down()  # drops data from broker 1 to the controller
    simulation.line(a, b).bring_up()
    simulation.line(a, b).set(latency_ms=100, jitter_ms=5, bandwidth_kbps=2_000, loss_ppm=1_000)
    simulation.line("b-1", "b-2").set(latency_ms=50)

A line is not a link: a link is a connection that one node opened to another, and many links share a line.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.sim.facts import LineChanged, LineDown, LineUp
from kmirror.sim.network import LineSettings
from kmirror.sim.world import World

NETWORK = "network"
"""Name of the network in the trace and as the node of facts about lines."""


@dataclass(frozen=True, slots=True)
class Line:
    """Line between two clusters or nodes; with `one_way`, only the direction from `one` to `other`."""

    world: World
    one: str
    other: str
    one_way: bool = False

    def __str__(self) -> str:
        return f"{self.one}{'>' if self.one_way else '|'}{self.other}"

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """(sender, receiver) of each direction."""
        direction = (self.one, self.other)
        return (direction,) if self.one_way or self.one == self.other else (direction, direction[::-1])

    @property
    def is_down(self) -> bool:
        """Whether this line was taken down, in all of its directions."""
        return all(self.world.network.was_taken_down(*ends) for ends in self.directions)

    def take_down(self) -> None:
        """Lose all data sent from now on, without notifying either end, like a firewall."""
        changed = tuple(ends for ends in self.directions if not self.world.network.was_taken_down(*ends))
        for ends in changed:
            self.world.network.take_down(*ends)
        if changed:
            self._report(f"line {self} down", LineDown(str(self), changed))

    def bring_up(self) -> None:
        """Stop losing data; lost data stays lost."""
        changed = tuple(ends for ends in self.directions if self.world.network.was_taken_down(*ends))
        for ends in changed:
            self.world.network.bring_up(*ends)
        if changed:
            self._report(f"line {self} up", LineUp(str(self), changed))

    def set(
        self,
        *,
        latency_ms: float | None = None,
        jitter_ms: float | None = None,
        bandwidth_kbps: int | None = None,
        loss_ppm: int | None = None,
        reorder_ppm: int | None = None,
    ) -> None:
        """Change the given properties, in each direction, for data sent from now on; the others keep their values.

        A frame takes `latency_ms`, plus or minus up to `jitter_ms`. `bandwidth_kbps` is shared by all links on the
        line; 0 is no limit. Of a million packets, `loss_ppm` are lost and sent again; of a million frames,
        `reorder_ppm` are delayed. Settings for two nodes take precedence over those for their clusters. Raises
        UsageError for invalid values.
        """
        given = LineSettings(
            latency_ms=latency_ms,
            jitter_ms=jitter_ms,
            bandwidth_kbps=bandwidth_kbps,
            loss_ppm=loss_ppm,
            reorder_ppm=reorder_ppm,
        )
        if not given.given():
            return
        for ends in self.directions:
            self.world.network.set(*ends, self.world.network.settings(*ends).changed(given))
        self._report(f"line {self} set: {given}", LineChanged(str(self), self.directions, given))

    def reset(self) -> None:
        """Reset the properties of the line to those before any `set`."""
        for ends in self.directions:
            self.world.network.set(*ends, LineSettings())
        self._report(f"line {self} reset", LineChanged(str(self), self.directions, LineSettings()))

    def _report(self, text: str, fact: LineDown | LineUp | LineChanged) -> None:
        self.world.trace.add(self.world.now, NETWORK, text)
        self.world.tell(NETWORK, fact)
