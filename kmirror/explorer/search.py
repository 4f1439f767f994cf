"""Breadth-first search for a state that violates an invariant, with a shortest path to it.

Every state is visited once, in order of its distance from the initial state, so the first violation found is a nearest
one. "Exhausted" means that all states were visited.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from kmirror.explorer.model import Model, State

CHECK_EVERY = 4096
"""Number of states between checks of the bounds."""


class Ending(Enum):
    EXHAUSTED = "exhausted"
    FOUND = "counter-example"
    BOUND = "bound reached"


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of a search; `path` leads to the violating state, both ends included."""

    ending: Ending
    states: int
    """Number of distinct states reached."""
    transitions: int
    depth: int
    """Steps from the initial state to the last state visited."""
    anomaly: str = ""
    path: tuple[State, ...] = ()


def explore(model: Model, may_continue: Callable[[int], bool] = lambda states: True) -> Outcome:
    """Search all states of the model; `may_continue` is called regularly with the number of states reached."""
    first = model.initial_state()
    parents: dict[State, State] = {first: -1}
    frontier, depth, transitions, visited = [first], 0, 0, 0
    successors, violation = model.successors, model.violation
    while frontier:
        reached: list[State] = []
        for state in frontier:
            anomaly = violation(state)
            if anomaly:
                path = _path(parents, state)
                return Outcome(Ending.FOUND, len(parents), transitions, depth, anomaly, path)
            found = successors(state)
            transitions += len(found)
            for after in found:
                if after not in parents:
                    parents[after] = state
                    reached.append(after)
            visited += 1
            if visited % CHECK_EVERY == 0 and not may_continue(len(parents)):
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
