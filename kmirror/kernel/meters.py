"""Rates and histograms. No clock is read: `now` is an argument.

Results depend only on the recorded values and on the time of the query: reading changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, exp

from kmirror.kernel.clock import SECOND, Duration, Instant

TICK_SECONDS = 5
TICK: Duration = TICK_SECONDS * SECOND
MINUTES = (1, 5, 15)
_ONE, _FIVE, _FIFTEEN = (1 - exp(-TICK_SECONDS / 60 / minutes) for minutes in MINUTES)
SAMPLE_SIZE = 1028
"""Size of a histogram's sample for quantiles, as in Kafka, but here of the newest values."""


class Meter:
    """Counter with events per second, as exponentially weighted moving averages (Kafka's Meter).

    Every five seconds the rates are updated with the events since then. Hot code may inline `mark`.
    """

    __slots__ = ("_counted_at_tick", "_rates", "count", "next_tick")

    def __init__(self) -> None:
        self.count = 0
        """Number of events in total."""
        self.next_tick: Instant = 0
        """Time of the next update of the rates: call `tick` before counting events after it."""
        self._counted_at_tick = 0
        self._rates: tuple[float, float, float] | None = None

    def mark(self, now: Instant, count: int = 1) -> None:
        """Count `count` events."""
        if now >= self.next_tick:
            self.tick(now)
        self.count += count

    def rates(self, now: Instant) -> tuple[float, float, float]:
        """Return the events per second as moving averages over one, five and fifteen minutes."""
        if now >= self.next_tick:
            self.tick(now)
        return self._rates or (0.0, 0.0, 0.0)

    def tick(self, now: Instant) -> None:
        """Update the rates for all ticks since the last update; ticks are at fixed times."""
        if not self.next_tick:
            self.next_tick = now + TICK
            return
        missed = (now - self.next_tick) // TICK
        recent = (self.count - self._counted_at_tick) / TICK_SECONDS
        one, five, fifteen = self._rates or (recent, recent, recent)
        one += _ONE * (recent - one)
        five += _FIVE * (recent - five)
        fifteen += _FIFTEEN * (recent - fifteen)
        if missed:
            one *= (1 - _ONE) ** missed
            five *= (1 - _FIVE) ** missed
            fifteen *= (1 - _FIFTEEN) ** missed
        self._rates = one, five, fifteen
        self._counted_at_tick = self.count
        self.next_tick += (missed + 1) * TICK


@dataclass(slots=True)
class _Window:
    start_ms: int
    last_ms: int
    value: int


class WindowedRate:
    """Average per second over the last windows (Kafka's SimpleRate), used for replication quotas.

    There are `windows` windows of `window_ms` each. The rate covers the time since the start of the oldest window that
    has not expired, and at least one window. All values are whole numbers, times in milliseconds.
    """

    def __init__(self, windows: int, window_ms: int) -> None:
        self._window_ms = window_ms
        self._expires_ms = windows * window_ms
        self._windows: deque[_Window] = deque(maxlen=windows + 1)

    def record(self, now_ms: int, value: int) -> None:
        """Add `value` at `now_ms`."""
        windows = self._windows
        while windows and now_ms - windows[0].last_ms >= self._expires_ms:
            windows.popleft()
        if not windows or now_ms - windows[-1].start_ms >= self._window_ms:
            windows.append(_Window(now_ms, now_ms, 0))
        windows[-1].value += value
        windows[-1].last_ms = now_ms

    def measure(self, now_ms: int) -> float:
        """Return the recorded amount per second."""
        active = [window for window in self._windows if now_ms - window.last_ms < self._expires_ms]
        if not active:
            return 0.0
        span_ms = max(now_ms - active[0].start_ms, self._window_ms)
        return sum(window.value for window in active) * 1000 / span_ms

    def time_until_at_most(self, bound: int, now_ms: int) -> int:
        """Return the time (ms) when the rate is at most `bound` if nothing more is recorded; at least `now_ms`."""
        active = [window for window in self._windows if now_ms - window.last_ms < self._expires_ms]
        left = sum(window.value for window in active)
        since_ms = now_ms
        for window in active:
            until_ms = window.last_ms + self._expires_ms
            if left * 1000 <= bound * self._window_ms:
                return since_ms
            if bound > 0:
                reached_ms = max(since_ms, window.start_ms + ceil(left * 1000 / bound))
                if reached_ms < until_ms:
                    return reached_ms
            left -= window.value
            since_ms = max(since_ms, until_ms)
        return since_ms


@dataclass(slots=True)
class Histogram:
    """Count, sum, minimum and maximum of all values, and quantiles of the newest."""

    count: int = 0
    total: float = 0
    minimum: float = 0
    maximum: float = 0
    newest: deque[float] = field(default_factory=lambda: deque(maxlen=SAMPLE_SIZE))

    def add(self, value: float) -> None:
        """Add a value."""
        self.minimum = value if not self.count else min(self.minimum, value)
        self.maximum = max(self.maximum, value)
        self.count += 1
        self.total += value
        self.newest.append(value)

    def merge(self, other: Histogram) -> Histogram:
        """Return the combination of two histograms, with the newest values of both."""
        values = deque([*self.newest, *other.newest], maxlen=2 * SAMPLE_SIZE)
        non_empty = [each for each in (self, other) if each.count]
        return Histogram(
            self.count + other.count,
            self.total + other.total,
            min((each.minimum for each in non_empty), default=0),
            max(self.maximum, other.maximum),
            values,
        )

    @property
    def mean(self) -> float:
        """Mean of all values, 0 if there are none."""
        return self.total / self.count if self.count else 0.0

    def quantiles(self, shares: Iterable[float]) -> list[float]:
        """Return the quantiles of the newest values for shares from 0 to 1; 0 if there are no values."""
        values = sorted(self.newest)
        return [values[min(len(values) - 1, int(share * len(values)))] if values else 0.0 for share in shares]
