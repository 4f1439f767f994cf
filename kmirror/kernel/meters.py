"""How often, and how much in a second? Counts over time, and nothing here looks at a clock: `now` is handed in.

What is told depends on what was counted and on when it is asked, never on who asked before: reading changes nothing.
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
KEPT = 1028
"""Values of which a histogram tells its quantiles: as many as Kafka's has, but here they are the newest ones."""


class Meter:
    """Counts, and how many they were in a second: Kafka's Meter, whose rates fade by the minute.

    Each five seconds the rates take in what was counted since. Who counts very often does what `mark` does by itself.
    """

    __slots__ = ("_rates", "_taken_in", "count", "next_tick")

    def __init__(self) -> None:
        self.count = 0
        """All that was ever marked."""
        self.next_tick: Instant = 0
        """When the rates take in next what was counted: `tick` has to be called before more is."""
        self._taken_in = 0
        self._rates: tuple[float, float, float] | None = None

    def mark(self, now: Instant, count: int = 1) -> None:
        """Count `count` more."""
        if now >= self.next_tick:
            self.tick(now)
        self.count += count

    def rates(self, now: Instant) -> tuple[float, float, float]:
        """Return what was counted in a second of late: over one, five and fifteen minutes, as they fade."""
        if now >= self.next_tick:
            self.tick(now)
        return self._rates or (0.0, 0.0, 0.0)

    def tick(self, now: Instant) -> None:
        """Take in what was counted, with the ticks that passed since: they are at the same times whoever asks."""
        if not self.next_tick:
            self.next_tick = now + TICK
            return
        missed = (now - self.next_tick) // TICK
        of_late = (self.count - self._taken_in) / TICK_SECONDS
        one, five, fifteen = self._rates or (of_late, of_late, of_late)
        one += _ONE * (of_late - one)
        five += _FIVE * (of_late - five)
        fifteen += _FIFTEEN * (of_late - fifteen)
        if missed:
            one *= (1 - _ONE) ** missed
            five *= (1 - _FIVE) ** missed
            fifteen *= (1 - _FIFTEEN) ** missed
        self._rates = one, five, fifteen
        self._taken_in = self.count
        self.next_tick += (missed + 1) * TICK


@dataclass(slots=True)
class _Window:
    begins_ms: int
    last_ms: int
    value: int


class WindowedRate:
    """How much in a second over the last windows: Kafka's SimpleRate, by which a replication quota is held.

    `windows` are kept of `window_ms` each. A rate is over the time since the first window that still counts began, and
    at least over one window. All values are whole numbers, times in milliseconds.
    """

    def __init__(self, windows: int, window_ms: int) -> None:
        self._window_ms = window_ms
        self._expires_ms = windows * window_ms
        self._windows: deque[_Window] = deque(maxlen=windows + 1)

    def record(self, now_ms: int, value: int) -> None:
        """Count `value` as of now."""
        windows = self._windows
        while windows and now_ms - windows[0].last_ms >= self._expires_ms:
            windows.popleft()
        if not windows or now_ms - windows[-1].begins_ms >= self._window_ms:
            windows.append(_Window(now_ms, now_ms, 0))
        windows[-1].value += value
        windows[-1].last_ms = now_ms

    def measure(self, now_ms: int) -> float:
        """Return what was recorded in a second."""
        counting = [one for one in self._windows if now_ms - one.last_ms < self._expires_ms]
        if not counting:
            return 0.0
        span_ms = max(now_ms - counting[0].begins_ms, self._window_ms)
        return sum(one.value for one in counting) * 1000 / span_ms

    def falls_to(self, bound: int, now_ms: int) -> int:
        """Return when the rate is `bound` or less, if nothing is recorded until then; `now_ms` if it is already."""
        counting = [one for one in self._windows if now_ms - one.last_ms < self._expires_ms]
        left = sum(one.value for one in counting)
        since_ms = now_ms
        for one in counting:
            until_ms = one.last_ms + self._expires_ms
            if left * 1000 <= bound * self._window_ms:
                return since_ms
            if bound > 0:
                reached_ms = max(since_ms, one.begins_ms + ceil(left * 1000 / bound))
                if reached_ms < until_ms:
                    return reached_ms
            left -= one.value
            since_ms = max(since_ms, until_ms)
        return since_ms


@dataclass(slots=True)
class Histogram:
    """How large values were: all of them, and the quantiles of the newest."""

    count: int = 0
    total: float = 0
    least: float = 0
    most: float = 0
    newest: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))

    def add(self, value: float) -> None:
        """Take in a value."""
        self.least = value if not self.count else min(self.least, value)
        self.most = max(self.most, value)
        self.count += 1
        self.total += value
        self.newest.append(value)

    def joined(self, other: Histogram) -> Histogram:
        """Return what both have taken in, with the newest values of each."""
        values = deque([*self.newest, *other.newest], maxlen=2 * KEPT)
        counted = [each for each in (self, other) if each.count]
        return Histogram(
            self.count + other.count,
            self.total + other.total,
            min((each.least for each in counted), default=0),
            max(self.most, other.most),
            values,
        )

    @property
    def mean(self) -> float:
        """Return the mean of all values, 0 if there are none."""
        return self.total / self.count if self.count else 0.0

    def quantiles(self, shares: Iterable[float]) -> list[float]:
        """Return for each share (0 to 1) the value below which so many of the newest lie, 0 if there are none."""
        values = sorted(self.newest)
        return [values[min(len(values) - 1, int(share * len(values)))] if values else 0.0 for share in shares]
