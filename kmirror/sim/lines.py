"""What lies between two clusters or two nodes, and what may a script do to it while a run goes on?

    simulation.line(a, b).take_down()                               # clusters, both ways
    simulation.line("a-1", "a-controller", one_way=True).take_down()  # what broker 1 sends to the controller is lost
    simulation.line(a, b).bring_up()
    simulation.line(a, b).set(latency_ms=100, jitter_ms=5, bandwidth_kbps=2_000, loss_ppm=1_000)
    simulation.line("b-1", "b-2").set(latency_ms=50)

A line is not a link: a link is what one node opened to another, and many links share a line.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.sim.facts import LineChanged, LineDown, LineUp
from kmirror.sim.network import LineSettings
from kmirror.sim.world import World

NETWORK = "network"
"""Who tells of lines, in the trace and as the node of their facts."""


@dataclass(frozen=True, slots=True)
class Line:
    """What clusters or nodes send to each other, or with `one_way` only what `one` sends to `other`."""

    world: World
    one: str
    other: str
    one_way: bool = False

    def __str__(self) -> str:
        return f"{self.one}{'>' if self.one_way else '|'}{self.other}"

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """Return (sender, receiver) of each direction."""
        there = (self.one, self.other)
        return (there,) if self.one_way or self.one == self.other else (there, there[::-1])

    @property
    def is_down(self) -> bool:
        """Return whether this line was taken down, in every direction that it has."""
        return all(self.world.network.was_taken_down(*ends) for ends in self.directions)

    def take_down(self) -> None:
        """Lose everything that is sent from now on, without a word to anybody, as a firewall does."""
        changed = tuple(ends for ends in self.directions if not self.world.network.was_taken_down(*ends))
        for ends in changed:
            self.world.network.take_down(*ends)
        if changed:
            self._tell(f"line {self} down", LineDown(str(self), changed))

    def bring_up(self) -> None:
        """Lose nothing any more; what was lost stays lost."""
        changed = tuple(ends for ends in self.directions if self.world.network.was_taken_down(*ends))
        for ends in changed:
            self.world.network.bring_up(*ends)
        if changed:
            self._tell(f"line {self} up", LineUp(str(self), changed))

    def set(
        self,
        *,
        latency_ms: float | None = None,
        jitter_ms: float | None = None,
        bandwidth_kbps: int | None = None,
        loss_ppm: int | None = None,
        reorder_ppm: int | None = None,
    ) -> None:
        """Change these properties for what is sent from now on, in each direction; what is not named stays as it is.

        A frame takes `latency_ms`, up to `jitter_ms` less or more; `bandwidth_kbps` is shared by all links on the line,
        and 0 is no limit; `loss_ppm` packets of a million are lost and sent again, `reorder_ppm` frames of a million
        held up. What is set for two nodes counts before what is set for their clusters. UsageError for other values.
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
        self._tell(f"line {self} set: {given}", LineChanged(str(self), self.directions, given))

    def reset(self) -> None:
        """Give the line the properties back that it has without `set`."""
        for ends in self.directions:
            self.world.network.set(*ends, LineSettings())
        self._tell(f"line {self} reset", LineChanged(str(self), self.directions, LineSettings()))

    def _tell(self, text: str, fact: LineDown | LineUp | LineChanged) -> None:
        self.world.trace.add(self.world.now, NETWORK, text)
        self.world.tell(NETWORK, fact)
