"""Timers fire at their time, even if earlier timers set or cancel others. The loop's time is a number here."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from typing import cast

import pytest

from kmirror.kernel.clock import MILLISECOND, SECOND
from kmirror.kernel.events import TimerKey
from kmirror.net.clock import Clock
from kmirror.net.timers import SWEEP_SIZE_MIN, HasTimers, Timers


class Handle:
    def __init__(self) -> None:
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class Loop:
    """The loop and the clock of `Timers`; `run` advances from one call to the next."""

    def __init__(self) -> None:
        self.at = 0
        self.calls = 0
        self._calls: list[tuple[int, int, Handle, Callable[[], None]]] = []

    def now(self) -> int:
        return self.at

    def call_later(self, delay_s: float, call: Callable[[], None]) -> Handle:
        handle = Handle()
        self.calls += 1
        assert self.calls < 10 * SWEEP_SIZE_MIN, "it turns in circles"
        heapq.heappush(self._calls, (self.at + self._delay(delay_s), self.calls, handle, call))
        return handle

    def _delay(self, delay_s: float) -> int:
        return round(delay_s * SECOND)

    def run(self, until: int) -> None:
        while self._calls and self._calls[0][0] <= until:
            self.at, _, handle, call = heapq.heappop(self._calls)
            if not handle.is_cancelled:
                call()
        self.at = until


class CoarseLoop(Loop):
    """Like uvloop: it has only milliseconds, for the time and the delay."""

    def _delay(self, delay_s: float) -> int:
        return round(delay_s * 1_000) * MILLISECOND - self.at % MILLISECOND


class Process:
    def __init__(self) -> None:
        self.timers: dict[TimerKey, int] = {}


class Scene:
    """Timers over a loop of numbers; `fired` has the times in seconds, and `then` the actions of timers."""

    def __init__(self, of_numbers: Loop | None = None) -> None:
        self.loop = of_numbers or Loop()
        self.process = Process()
        self.fired: list[tuple[TimerKey, float]] = []
        self.then: dict[TimerKey, Callable[[], None]] = {}
        loop, clock = cast(asyncio.AbstractEventLoop, self.loop), cast(Clock, self.loop)
        self.timers = Timers(loop, clock, self._fire, lambda: None)

    def _fire(self, process: HasTimers, key: TimerKey) -> None:
        self.fired.append((key, self.loop.at / SECOND))
        self.then.get(key, lambda: None)()

    def set(self, key: str, after_s: float) -> None:
        self.timers.set(self.process, (key,), self.loop.at + round(after_s * SECOND))


def test_a_timer_that_sets_a_late_one_does_not_delay_those_between() -> None:
    """Once a broker's heartbeats waited until a request's thirty seconds were over, and its session ended."""
    scene = Scene()
    scene.then["first",] = lambda: scene.set("late", 30)
    scene.set("first", 1)
    scene.set("between", 2)
    scene.loop.run(60 * SECOND)
    assert scene.fired == [(("first",), 1), (("between",), 2), (("late",), 31)]


def test_timers_fire_though_the_heap_is_swept_while_they_do() -> None:
    scene = Scene()

    def set_and_cancel_many() -> None:
        for number in range(2 * SWEEP_SIZE_MIN):
            scene.set(f"cancelled {number}", 40)
            scene.timers.cancel(scene.process, (f"cancelled {number}",))
        scene.set("new", 3)

    scene.then["first",] = set_and_cancel_many
    for key, after_s in (("first", 1), ("second", 1), ("between", 2)):
        scene.set(key, after_s)
    scene.loop.run(60 * SECOND)
    assert scene.fired == [(("first",), 1), (("second",), 1), (("between",), 2), (("new",), 4)]


def test_a_timer_set_again_fires_once_at_its_new_time() -> None:
    scene = Scene()
    scene.set("a", 1)
    scene.set("a", 5)
    scene.set("b", 3)
    scene.loop.run(60 * SECOND)
    assert scene.fired == [(("b",), 3), (("a",), 5)]


def test_a_closed_heap_fires_nothing() -> None:
    scene = Scene()
    scene.set("a", 1)
    scene.timers.close()
    scene.loop.run(60 * SECOND)
    assert scene.fired == []


@pytest.mark.parametrize("micros", [1, 499, 500, 501, 999])
def test_a_loop_with_milliseconds_is_not_polled_repeatedly(micros: int) -> None:
    """With uvloop a broker once called itself repeatedly for up to a millisecond before each timer."""
    scene = Scene(CoarseLoop())
    scene.loop.at = 1_700
    due = 10 + micros / SECOND
    scene.set("a", due)
    scene.loop.run(60 * SECOND)
    ((key, fired),) = scene.fired
    assert key == ("a",)
    assert 0 <= fired - (due + 0.0017) < 0.002
    assert scene.loop.calls <= 3
