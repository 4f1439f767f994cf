"""When does which timer fire? One heap for all nodes of a host, and one timer of the loop for the first of it.

Most timers are cancelled: each request has one, in case that no answer comes. Such a timer stays in the heap until its
time has come, or until the heap is mostly made of them.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from typing import Protocol

from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import TimerKey
from kmirror.net.clock import Clock

FIRED_MAX = 256
"""Timers that fire before sockets are looked at again."""
SWEPT_FROM = 1024


class HasTimers(Protocol):
    """A process: its timers that are set, each with the number of its entry in the heap."""

    timers: dict[TimerKey, int]


class Timers:
    """Fires timers of processes by calling `fire(process, key)`, then `turn_over()` once for those that were due."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        clock: Clock,
        fire: Callable[[HasTimers, TimerKey], None],
        turn_over: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._clock = clock
        self._fire = fire
        self._turn_over = turn_over
        self._heap: list[tuple[Instant, int, HasTimers, TimerKey]] = []
        self._number = 0
        self._handle: asyncio.TimerHandle | None = None
        self._due_at: Instant = 0
        self._swept_at_size = SWEPT_FROM

    def set(self, process: HasTimers, key: TimerKey, at: Instant) -> None:
        """Fire `key` at `at`, instead of when it was to fire before."""
        self._number = number = self._number + 1
        process.timers[key] = number
        heapq.heappush(self._heap, (at, number, process, key))
        if self._handle is None or at < self._due_at:
            self._wake_at(at)
        if len(self._heap) > self._swept_at_size:
            self._sweep()

    def cancel(self, process: HasTimers, key: TimerKey) -> None:
        """Do not fire `key`; nothing happens if it is not set."""
        process.timers.pop(key, None)

    def again(self) -> None:
        """Reckon anew how long it is until the first one."""
        if self._heap:
            self._wake_at(self._heap[0][0])

    def close(self) -> None:
        """Fire no more."""
        self._heap.clear()
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _wake_at(self, at: Instant) -> None:
        if self._handle is not None:
            self._handle.cancel()
        self._due_at = at
        # In whole milliseconds, for uvloop knows no others: it would round down, and call again and again until `at`.
        wait_ms = -((self._clock.now() - at) // MILLISECOND)
        self._handle = self._loop.call_later(max(0, wait_ms) / 1_000, self._on_due)

    def _on_due(self) -> None:
        self._handle = None
        now = self._clock.now()
        fired = 0
        while self._heap and fired < FIRED_MAX:  # Another list after a sweep: what fires sets timers.
            at, number, process, key = self._heap[0]
            if process.timers.get(key) != number:
                heapq.heappop(self._heap)  # It was cancelled, or set anew.
                continue
            if at > now:
                break
            heapq.heappop(self._heap)
            del process.timers[key]
            fired += 1
            self._fire(process, key)
        # What fired may have set a timer, and so a time to wake, that is later than the first of those that were set.
        self.again()
        self._turn_over()

    def _sweep(self) -> None:
        """Take out of the heap what was cancelled; the next time when it has doubled."""
        self._heap = [entry for entry in self._heap if entry[2].timers.get(entry[3]) == entry[1]]
        heapq.heapify(self._heap)
        self._swept_at_size = max(SWEPT_FROM, 2 * len(self._heap))
