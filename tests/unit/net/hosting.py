"""A node that records its events and runs a function of the test, and a host for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event
from kmirror.net.host import Host

T = TypeVar("T")
WITHIN_S = 20.0
"""A deadline, not a measure: the awaited events are immediate."""
OnEvent = Callable[[Instant, Event], list[Effect]]


class Recorder:
    """A node whose effects come from a function."""

    def __init__(self, on_event: OnEvent | None = None) -> None:
        self.events: list[Event] = []
        self.depth = 0
        self._on_event = on_event

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        assert self.depth == 0, "an event within an event"
        self.depth += 1
        self.events.append(event)
        effects = [] if self._on_event is None else self._on_event(now, event)
        self.depth -= 1
        return effects

    def of(self, kind: type[T]) -> list[T]:
        """Return the events of a kind until now."""
        return [event for event in self.events if isinstance(event, kind)]


def run_with_host(script: Callable[[Host], Awaitable[None]]) -> None:
    """Run a script with a host on a separate loop."""

    async def run() -> None:
        host = Host(asyncio.get_running_loop())
        try:
            await asyncio.wait_for(script(host), WITHIN_S)
            assert not host.crashes, host.crashes
        finally:
            host.close()

    asyncio.run(run())
