"""Timers of a host: one heap for all nodes, and one loop timer for the earliest entry.

Most timers are cancelled: each request has one for the case that no response arrives. A cancelled timer stays in the
heap until its time, or until most of the heap is cancelled timers.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from typing import Protocol

from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.net.clock import Clock

TIMERS_PER_TURN = 256
"""Timers fired before sockets are polled again."""
SWEEP_SIZE_MIN = 1024


class HasTimers(Protocol):
    """Process with its set timers, each mapped to the number of its entry in the heap."""

    timers: dict[TimerKey, int]


class Timers:
    """Fires due timers of processes with `fire(process, key)`, then calls `end_turn()` once for all of them."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: Clock,
        fire: Callable[[HasTimers, TimerKey], None],
        end_turn: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._fire = fire
        self._end_turn = end_turn
        self._heap: list[tuple[Instant, int, HasTimers, TimerKey]] = []
        self._number = 0
        self._handle: asyncio.TimerHandle | None = None
        self._due_at: Instant = 0
        self._sweep_size = SWEEP_SIZE_MIN

    def set(self, process: HasTimers, key: TimerKey, at: Instant) -> None:
        """Set the timer `key` to fire at `at`; this replaces an earlier time."""
        self._number = number = self._number + 1
        process.timers[key] = number
        heapq.heappush(self._heap, (at, number, process, key))
        if self._handle is None or at < self._due_at:
            self._wake_at(at)
        if len(self._heap) > self._sweep_size:
            self._sweep()

    def cancel(self, process: HasTimers, key: TimerKey) -> None:
        """Cancel the timer `key`; do nothing if it is not set."""
        process.timers.pop(key, None)

    def reschedule(self) -> None:
        """Recompute the delay until the first timer."""
        if self._heap:
            self._wake_at(self._heap[0][0])

    def close(self) -> None:
        """Cancel all timers."""
        self._heap.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _wake_at(self, at: Instant) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._due_at = at
        # uvloop knows only whole milliseconds: it would round down, and call repeatedly until `at`.
        wait_ms = -((self._clock.now() - at) // MILLISECOND)
        self._handle = self._loop.call_later(max(0, wait_ms) / 1_000, self._on_due)

    def _on_due(self) -> None:
        self._handle = None
        now = self._clock.now()
        fired = 0
        while self._heap and fired < TIMERS_PER_TURN:  # A timer callback may set timers, and a sweep replaces the list.
            at, number, process, key = self._heap[0]
            if process.timers.get(key) != number:
                heapq.heappop(self._heap)  # Cancelled or replaced.
                continue
            if at > now:
                break
            heapq.heappop(self._heap)
            del process.timers[key]
            fired += 1
            self._fire(process, key)
        # A callback may have set a later timer and with it the wake-up time: wake up for the earliest timer.
        self.reschedule()
        self._end_turn()

    def _sweep(self) -> None:
        """Remove the cancelled timers from the heap; the next sweep is when it has doubled."""
        self._heap = [entry for entry in self._heap if entry[2].timers.get(entry[3]) == entry[1]]
        heapq.heapify(self._heap)
        self._sweep_size = max(SWEEP_SIZE_MIN, 2 * len(self._heap))
