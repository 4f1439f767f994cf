"""`Pending`: an operation that was started and completes later, while the run continues.

    failover = mirror.begin_fail_over()
    simulation.at(simulation.elapsed_s + 1, lambda: b.kill(2))     # during the failover
    simulation.run_for(span_s=3)
    failover.is_done, failover.waits_for                           # False, 'orders-0 (STOPPING, ...: ...)'
    rows = failover.result()                                       # runs until it is done

Callbacks of `Simulation.on` and `at` cannot wait, but can start any of these.
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
"""Coroutine that awaits `Wait` objects one after the other and returns its result."""
WITHIN_S = 120.0


class Wait(Generic[T]):
    """Awaitable of a script: `begin` starts an operation, and calls its argument with the outcome."""

    def __init__(self, begin: Callable[[Callable[[T], None]], object]) -> None:
        self.begin = begin

    def __await__(self) -> Generator[Wait[T], T, T]:
        return (yield self)


class Pending(Generic[T]):
    """Outcome of an operation, available once it is done."""

    def __init__(self, world: World, what: str, script: Script[T], waits_for: Callable[[], str] = str) -> None:
        self._world = world
        self._what = what
        self._script = script
        self._waits_for = waits_for
        self._result: list[T] = []
        self._error: KmirrorError | None = None
        self._is_cancelled = False
        self._on_done: list[Callable[[Pending[T]], None]] = []
        self._resume(None)
        if isinstance(self._error, UsageError):  # Invalid arguments are reported to the caller immediately.
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
        """Whether there is a result or an error."""
        return bool(self._result) or self._error is not None

    @property
    def error(self) -> KmirrorError | None:
        """Error that `result` would raise, such as a KafkaError; None if there is none, or not yet."""
        return self._error

    @property
    def waits_for(self) -> str:
        """Description of the condition it waits for; empty if it is done or cancelled."""
        if self.is_done or self._is_cancelled:
            return ""
        return self._waits_for() or "an answer"

    def result(self, *, within_s: float = WITHIN_S) -> T:
        """Run the world until the operation is done and return its result, or raise its error.

        Raises SimulationFailure after `within_s` virtual seconds, and cancels the operation then.
        """
        if self._is_cancelled:
            raise UsageError(f"{self._what} was given up: start it again")
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
        """Stop following the operation; requests already sent are not revoked. Does nothing if it is done."""
        self._is_cancelled = not self.is_done

    def on_done(self, call: Callable[[Pending[T]], None]) -> None:
        """Call `call` with this object once it is done, or immediately if it is done already."""
        if self.is_done:
            call(self)
        else:
            self._on_done.append(call)

    def _resume(self, value: Any) -> None:
        if self._is_cancelled:
            return
        try:
            wait: Wait[Any] = self._script.send(value)
        except StopIteration as end:
            self._result.append(end.value)
        except KmirrorError as error:
            self._error = error
        else:
            wait.begin(self._resume)
            return
        for call in self._on_done:
            call(self)


def pause(world: World, span_s: float) -> Wait[None]:
    """Return a `Wait` that ends after `span_s` virtual seconds."""
    return Wait(lambda resume: world.at(world.now + round(span_s * SECOND), lambda: resume(None)))


def until(world: World, condition: Callable[[], bool]) -> Wait[None]:
    """Return a `Wait` that ends when `condition` holds."""
    return Wait(lambda resume: world.watchers.once(condition, lambda: resume(None)))
