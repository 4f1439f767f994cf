"""Draft of a plan while its steps are drawn: the orders so far, and the moves that fit.

The state has the orders, not their results, because the draw ends before anything runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kmirror.histories.plan import ClusterPlan, Step, Value
from kmirror.kernel.rng import Rng

NEW, ADDED, REMOVED = "new", "added", "removed"


@dataclass(slots=True)
class Line:
    """Topics of one mirror, with its source and destination; the mirror may begin later, or have ended."""

    mirror: str
    topics: str
    """Names separated by commas."""
    source: str
    destination: str
    phase: str = NEW
    is_reversible: bool = True
    """The reverse direction may be ordered; false if a mirror of that name has another source there."""

    @property
    def topic(self) -> str:
        return self.topics.split(",")[0]


@dataclass(slots=True)
class PlanDraft:
    """The steps drawn so far, and the state after them."""

    rng: Rng
    clusters: Mapping[str, ClusterPlan]
    lines: list[Line]
    writers: dict[str, list[str]]
    """Producers by topic."""
    readers: list[str]
    steps: list[Step] = field(default_factory=list)
    at_ms: int = 0
    mirrors: dict[tuple[str, str], None] = field(default_factory=dict)
    """(cluster, mirror) of mirrors that were created."""
    spare_topics: list[str] = field(default_factory=list)

    def step(self, action: str, **args: Value) -> None:
        self.steps.append(Step(self.at_ms, action, args))

    def wait(self, least_ms: int, most_ms: int) -> None:
        self.at_ms += self.rng.between(least_ms, most_ms)

    def draw_ms(self, span_ms: tuple[int, int]) -> int:
        """Return a number of milliseconds in the range, both ends inclusive."""
        return self.rng.between(*span_ms)

    def kill_replica(self, line: Line, cluster: str, victim: str, *, for_ms: int) -> None:
        """Kill a replica of the line's first partition: "leader" or "follower"."""
        self.step("kill_replica", cluster=cluster, topic=line.topic, partition=0, victim=victim, for_ms=for_ms)

    def line(self, *phases: str) -> Line | None:
        """Return one of the lines in these phases, with a preference for the first ones; None if there is none."""
        found = [line for line in self.lines if not phases or line.phase in phases]
        return found[min(self.rng.below(len(found)), self.rng.below(len(found)))] if found else None

    def broker(self, cluster: str) -> int:
        return self.rng.between(1, self.clusters[cluster].brokers)

    def cluster(self) -> str:
        return self.rng.choice(list(self.clusters))

    # -- orders -------------------------------------------------------------------------------

    def add(self, line: Line, *, servers: str = "") -> None:
        """Create the mirror if it does not exist, and add the line's topics."""
        mirror_args: dict[str, Value] = {"mirror": line.mirror, "source": line.source, "destination": line.destination}
        if (line.destination, line.mirror) not in self.mirrors:
            self.mirrors[line.destination, line.mirror] = None
            self.step(
                "create_mirror",
                **mirror_args,
                servers=servers or line.source,
                timeout_ms=self.rng.between(1_500, 4_000),
            )
            self.wait(20, 400)
        self.step("add", **mirror_args, topics=line.topics)
        if self.conflicting_line(line) is None:  # Otherwise the order is refused.
            line.phase = ADDED

    def conflicting_line(self, line: Line, destination: str = "") -> Line | None:
        """Return another line that mirrors a topic of this one into its destination, or into the given one; None if
        none.
        """
        target, topics = destination or line.destination, line.topics.split(",")
        found = (
            other
            for other in self.lines
            if other is not line and other.phase == ADDED and other.destination == target
            and any(topic in topics for topic in other.topics.split(","))
        )  # fmt: skip
        return next(found, None)

    def remove(self, line: Line) -> None:
        self.step("remove", mirror=line.mirror, source=line.source, destination=line.destination, topics=line.topics)
        line.phase = REMOVED

    def pause(self, line: Line) -> None:
        self.step("pause", mirror=line.mirror, source=line.source, destination=line.destination, topics=line.topics)

    def resume(self, line: Line) -> None:
        self.step("resume", mirror=line.mirror, source=line.source, destination=line.destination, topics=line.topics)

    def delete_mirror(self, line: Line) -> None:
        """Delete the line's mirror; the next `add` creates it again."""
        self.step("delete_mirror", mirror=line.mirror, destination=line.destination)
        self.mirrors.pop((line.destination, line.mirror), None)

    def turn(self, line: Line, cluster: str) -> None:
        """Move the applications of the line's topics to another cluster."""
        names = [name for topic in line.topics.split(",") for name in self.writers.get(topic, [])]
        names += [name for name in self.readers if self.rng.chance(1, 2)]
        if names:
            self.step("turn", clients=",".join(dict.fromkeys(names)), cluster=cluster)

    def fail_over(self, line: Line) -> None:
        """Remove the topics; usually the applications move, too."""
        self.remove(line)
        if line.is_reversible and self.rng.chance(4, 5):
            self.wait(100, 1_500)
            self.turn(line, line.destination)

    def fail_back(self, line: Line) -> None:
        line.source, line.destination = line.destination, line.source
        self.add(line)

    def next_order(self, line: Line) -> None:
        """Give the next sensible order for the line."""
        conflicting_line = None if line.phase == ADDED else self.conflicting_line(line)
        if conflicting_line is not None and self.rng.chance(3, 4):
            self.remove(conflicting_line)
            self.wait(300, 4_000)
        if line.phase == NEW:
            self.add(line)
        elif line.phase == ADDED:
            self.fail_over(line)
        elif line.is_reversible and self.conflicting_line(line, line.source) is None and self.rng.chance(3, 4):
            self.fail_back(line)
        else:
            self.add(line)


Move = Callable[[PlanDraft], bool]


def move_on_line(*phases: str, is_reversible: bool = False) -> Callable[[Callable[[PlanDraft, Line], bool]], Move]:
    """Make a move of an action on one line, in one of these phases (any if empty); with `is_reversible` it must be
    reversible.

    The move does not fit a draft without such a line; the action may reject a line, too.
    """

    def make_move(act: Callable[[PlanDraft, Line], bool]) -> Move:
        def move(draft: PlanDraft) -> bool:
            line = draft.line(*phases)
            return line is not None and (line.is_reversible or not is_reversible) and act(draft, line)

        return move

    return make_move
