"""Is there a state that breaks an invariant, and which is the shortest way there? Breadth-first over the whole scope.

Every state is looked at once, in the order of its distance from the beginning, so the first that is wrong is as near as
any. "Exhausted" means that nothing was left to look at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from kmirror.explorer.model import Model, State

LOOK_EVERY = 4096
"""After how many states the bounds are looked at."""


class Ending(Enum):
    EXHAUSTED = "exhausted"
    FOUND = "counter-example"
    BOUND = "bound reached"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a search ended; `path` leads to the wrong state, both ends included."""

    ending: Ending
    states: int
    """Distinct states that were reached."""
    transitions: int
    depth: int
    """Steps from the beginning to the last state looked at."""
    anomaly: str = ""
    path: tuple[State, ...] = ()


def explore(model: Model, may_go_on: Callable[[int], bool] = lambda states: True) -> Outcome:
    """Search all states of the model; `may_go_on` is asked now and then, with the number of states reached."""
    first = model.first()
    parents: dict[State, State] = {first: -1}
    frontier, depth, transitions, looked = [first], 0, 0, 0
    successors, verdict = model.successors, model.verdict
    while frontier:
        reached: list[State] = []
        for state in frontier:
            anomaly = verdict(state)
            if anomaly:
                path = _path(parents, state)
                return Outcome(Ending.FOUND, len(parents), transitions, depth, anomaly, path)
            found = successors(state)
            transitions += len(found)
            for after in found:
                if after not in parents:
                    parents[after] = state
                    reached.append(after)
            looked += 1
            if looked % LOOK_EVERY == 0 and not may_go_on(len(parents)):
                return Outcome(Ending.BOUND, len(parents), transitions, depth)
        frontier = reached
        depth += 1
    return Outcome(Ending.EXHAUSTED, len(parents), transitions, depth - 1)


def _path(parents: dict[State, State], state: State) -> tuple[State, ...]:
    path = []
    while state != -1:
        path.append(state)
        state = parents[state]
    return tuple(reversed(path))
