"""Watchers of a run: facts with time and place, callbacks for facts, and actions scheduled on conditions.

Callbacks run after the event that caused the fact, so they may act: kill a node, take a line down, send an admin
request. A watcher that only observes does not change the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kmirror.kernel.clock import MILLISECOND, Duration

F = TypeVar("F")
F_co = TypeVar("F_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Seen(Generic[F_co]):
    """A fact with the time and place where it was observed."""

    at_us: Duration
    """Microseconds since the run began."""
    cluster: str
    """Name of the cluster; empty for a fact without a cluster, such as one about a line."""
    node: str
    """Name as in the trace: `a-1` is broker 1 of cluster a, `a-controller` its controller, `a-client` its client."""
    fact: F_co

    @property
    def at_ms(self) -> int:
        """Milliseconds since the run began."""
        return self.at_us // MILLISECOND


class Planned:
    """Scheduled action or callback of a script; `cancel` ends it."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        """Cancel it; does nothing if it was executed or cancelled before."""
        self.is_cancelled = True


@dataclass(slots=True)
class _Watch:
    planned: Planned
    kind: type[Any]
    call: Callable[[Seen[Any]], None]


@dataclass(slots=True)
class _AwaitedAction:
    planned: Planned
    condition: Callable[[], bool]
    action: Callable[[], None]


class Watchers:
    """All facts of a run, and the callbacks and conditions that wait for them."""

    def __init__(self) -> None:
        self.facts: list[Seen[object]] = []
        self.is_needed = False
        """Whether there are new facts for watchers, or pending conditions, so that `call` must run."""
        self._new_facts: deque[Seen[object]] = deque()
        self._watches: list[_Watch] = []
        self._awaited: list[_AwaitedAction] = []

    def tell(self, seen: Seen[object]) -> None:
        """Store a fact; the next `call` passes it to the watchers."""
        self.facts.append(seen)
        if self._watches:
            self._new_facts.append(seen)
            self.is_needed = True

    def on(self, kind: type[F], call: Callable[[Seen[F]], None]) -> Planned:
        """Call `call` for every fact of `kind` from now on."""
        watch = _Watch(Planned(), kind, call)
        self._watches.append(watch)
        return watch.planned

    def once(self, condition: Callable[[], bool], action: Callable[[], None]) -> Planned:
        """Execute `action` once, after the first event after which `condition` holds."""
        awaited = _AwaitedAction(Planned(), condition, action)
        self._awaited.append(awaited)
        self.is_needed = True
        return awaited.planned

    def call(self) -> None:
        """Pass new facts to the watchers in order, and execute the actions whose conditions now hold."""
        while self._new_facts or self._awaited:
            while self._new_facts:
                self._notify(self._new_facts.popleft())
            if not self._run_next_awaited():
                break
        self.is_needed = bool(self._awaited)

    def _notify(self, seen: Seen[object]) -> None:
        self._watches = [watch for watch in self._watches if not watch.planned.is_cancelled]
        for watch in list(self._watches):
            if isinstance(seen.fact, watch.kind) and not watch.planned.is_cancelled:
                watch.call(seen)

    def _run_next_awaited(self) -> bool:
        """Execute the first action whose condition holds, and return whether there was one; it may cause facts."""
        self._awaited = [awaited for awaited in self._awaited if not awaited.planned.is_cancelled]
        for awaited in self._awaited:
            if awaited.condition():
                self._awaited.remove(awaited)
                awaited.action()
                return True
        return False
