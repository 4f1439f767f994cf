"""Who is called when something happens? Facts with when and where they were seen, and what a script plans to do then.

Whoever watches is called once the event that brought the fact is over, and so may act: kill a node, take a line down,
give an order. A watcher that only looks leaves the run as it is.
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
    """A fact, and when and where it was seen."""

    at_us: Duration
    """Since the run began."""
    cluster: str
    """Empty for what belongs to no cluster, such as a line."""
    node: str
    """As in the trace: `a-1` is broker 1 of cluster a, `a-controller` its controller, `a-client` gives it orders."""
    fact: F_co

    @property
    def at_ms(self) -> int:
        """Return the milliseconds from the beginning of the run to this fact."""
        return self.at_us // MILLISECOND


class Planned:
    """Something that a script wants to be done later, or whenever something happens; `cancel` ends it."""

    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        """Do not do it (again). Does nothing if it was done or cancelled before."""
        self.is_cancelled = True


@dataclass(slots=True)
class _Watch:
    planned: Planned
    kind: type[Any]
    call: Callable[[Seen[Any]], None]


@dataclass(slots=True)
class _Awaited:
    planned: Planned
    condition: Callable[[], bool]
    action: Callable[[], None]


class Watchers:
    """All facts of a run, and who is called for them."""

    def __init__(self) -> None:
        self.facts: list[Seen[object]] = []
        self.is_needed = False
        """Is there news for those who watch, or does somebody wait for a condition? Then `call` has something to do."""
        self._news: deque[Seen[object]] = deque()
        self._watches: list[_Watch] = []
        self._awaited: list[_Awaited] = []

    def tell(self, seen: Seen[object]) -> None:
        """Keep a fact; who watches is called by the next `call`."""
        self.facts.append(seen)
        if self._watches:
            self._news.append(seen)
            self.is_needed = True

    def on(self, kind: type[F], call: Callable[[Seen[F]], None]) -> Planned:
        """Call `call` for every fact of `kind` from now on."""
        watch = _Watch(Planned(), kind, call)
        self._watches.append(watch)
        return watch.planned

    def once(self, condition: Callable[[], bool], action: Callable[[], None]) -> Planned:
        """Carry `action` out once, after the first event after which `condition` holds."""
        awaited = _Awaited(Planned(), condition, action)
        self._awaited.append(awaited)
        self.is_needed = True
        return awaited.planned

    def call(self) -> None:
        """Call who watches for what was told, in order, and carry out what waited for a condition that holds now."""
        while self._news or self._awaited:
            while self._news:
                self._tell_all(self._news.popleft())
            if not self._carry_out_awaited():
                break
        self.is_needed = bool(self._awaited)

    def _tell_all(self, seen: Seen[object]) -> None:
        self._watches = [watch for watch in self._watches if not watch.planned.is_cancelled]
        for watch in list(self._watches):
            if isinstance(seen.fact, watch.kind) and not watch.planned.is_cancelled:
                watch.call(seen)

    def _carry_out_awaited(self) -> bool:
        """Return whether a condition held; its action may have brought facts."""
        self._awaited = [awaited for awaited in self._awaited if not awaited.planned.is_cancelled]
        for awaited in self._awaited:
            if awaited.condition():
                self._awaited.remove(awaited)
                awaited.action()
                return True
        return False
