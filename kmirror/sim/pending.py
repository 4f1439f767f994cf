"""`Pending`: an order that was given and is looked at later, while the run goes on.

    failover = mirror.begin_fail_over()
    simulation.at(simulation.elapsed_s + 1, lambda: b.kill(2))     # in the midst of it
    simulation.run_for(span_s=3)
    failover.is_done, failover.waits_for                           # False, 'orders-0 (STOPPING, ...: ...)'
    rows = failover.result()                                       # runs on until it is done

What is called by `Simulation.on` or `at` cannot wait, and can begin any of these.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from typing import Any, Generic, TypeVar

from kmirror.errors import KmirrorError, SimulationFailure, UsageError
from kmirror.kernel.arguments import seconds
from kmirror.kernel.clock import SECOND
from kmirror.sim.world import World

T = TypeVar("T")
Script = Coroutine[Any, Any, T]
"""Awaits one `Wait` after the other, and returns its result."""
WITHIN_S = 120.0


class Wait(Generic[T]):
    """What a script awaits: `begin` begins something, and calls its argument with the outcome."""

    def __init__(self, begin: Callable[[Callable[[T], None]], object]) -> None:
        self.begin = begin

    def __await__(self) -> Generator[Wait[T], T, T]:
        return (yield self)


class Pending(Generic[T]):
    """The outcome of an order, as soon as there is one."""

    def __init__(self, world: World, what: str, script: Script[T], waits_for: Callable[[], str] = str) -> None:
        self._world = world
        self._what = what
        self._script = script
        self._waits_for = waits_for
        self._result: list[T] = []
        self._error: KmirrorError | None = None
        self._is_cancelled = False
        self._on_done: list[Callable[[Pending[T]], None]] = []
        self._go_on(None)
        if isinstance(self._error, UsageError):  # The caller learns at once what it gave wrong.
            raise self._error

    def __repr__(self) -> str:
        if self._is_cancelled:
            state = "given up"
        elif self._error is not None:
            state = f"failed: {self._error}"
        else:
            state = "done" if self.is_done else f"waits: {self.waits_for}"
        return f"<Pending {self._what}: {state}>"

    @property
    def is_done(self) -> bool:
        """Return whether there is a result or an error."""
        return bool(self._result) or self._error is not None

    @property
    def error(self) -> KmirrorError | None:
        """Return what `result` would raise, such as a KafkaError; None if there is none, or not yet."""
        return self._error

    @property
    def waits_for(self) -> str:
        """Return what it still waits for, in words; empty if it is done or was given up."""
        if self.is_done or self._is_cancelled:
            return ""
        return self._waits_for() or "an answer"

    def result(self, *, within_s: float = WITHIN_S) -> T:
        """Run until it is done and return its result, or raise its error.

        SimulationFailure if that takes longer than `within_s` virtual seconds; it is given up then.
        """
        if self._is_cancelled:
            raise UsageError(f"{self._what} was given up: begin it anew")
        seconds("within_s", within_s)
        try:
            self._world.run_until(
                lambda: self.is_done,
                within_us=round(within_s * SECOND),
                what=lambda: f"{self._what}, which waits for {self.waits_for}",
            )
        except SimulationFailure:
            self.cancel()
            raise
        if self._error is not None:
            raise self._error
        return self._result[0]

    def cancel(self) -> None:
        """Stop following the order; requests that were sent are not taken back. Does nothing if it is done."""
        self._is_cancelled = not self.is_done

    def on_done(self, call: Callable[[Pending[T]], None]) -> None:
        """Have `call` called with this once it is done; at once if it is."""
        if self.is_done:
            call(self)
        else:
            self._on_done.append(call)

    def _go_on(self, value: Any) -> None:
        if self._is_cancelled:
            return
        try:
            wait: Wait[Any] = self._script.send(value)
        except StopIteration as end:
            self._result.append(end.value)
        except KmirrorError as error:
            self._error = error
        else:
            wait.begin(self._go_on)
            return
        for call in self._on_done:
            call(self)


def pause(world: World, span_s: float) -> Wait[None]:
    """Return what waits for a while."""
    return Wait(lambda go_on: world.at(world.now + round(span_s * SECOND), lambda: go_on(None)))


def until(world: World, condition: Callable[[], bool]) -> Wait[None]:
    """Return what waits for a condition."""
    return Wait(lambda go_on: world.watchers.once(condition, lambda: go_on(None)))
