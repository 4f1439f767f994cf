"""What lies between two clusters or two nodes, and what may a script do to it while a run goes on?

    simulation.line(a, b).take_down()                               # clusters, both ways
    simulation.line("a-1", "a-controller", one_way=True).take_down()  # what broker 1 sends to the controller is lost
    simulation.line(a, b).bring_up()

A line is not a link: a link is what one node opened to another, and many links share a line.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.sim.facts import LineDown, LineUp
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
        return (there,) if self.one_way else (there, there[::-1])

    @property
    def is_down(self) -> bool:
        """Return whether this line was taken down, in every direction that it has."""
        return all(self.world.network.was_taken_down(*ends) for ends in self.directions)

    def take_down(self) -> None:
        """Lose everything that is sent from now on, without a word to anybody, as a firewall does."""
        for ends in self.directions:
            self.world.network.take_down(*ends)
        self.world.trace.add(self.world.now, NETWORK, f"line {self} down")
        self.world.tell(NETWORK, LineDown(str(self)))

    def bring_up(self) -> None:
        """Lose nothing any more; what was lost stays lost."""
        for ends in self.directions:
            self.world.network.bring_up(*ends)
        self.world.trace.add(self.world.now, NETWORK, f"line {self} up")
        self.world.tell(NETWORK, LineUp(str(self)))
