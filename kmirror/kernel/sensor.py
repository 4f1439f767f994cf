"""How much of late, by two windows of half a minute? What Kafka's clients tell of what they count.

Nothing here looks at a clock: `now` is handed in, and reading changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import nan

from kmirror.kernel.clock import SECOND, Duration, Instant

WINDOWS = 2
WINDOW: Duration = 30 * SECOND
"""`metrics.num.samples` and `metrics.sample.window.ms` of Kafka."""


class _Window:
    __slots__ = ("begins", "count", "last", "most", "total")

    def __init__(self, begins: Instant) -> None:
        self.begins = self.last = begins
        self.count = self.total = self.most = 0


class Sensor:
    """What was recorded: all values, and those of the last windows (Kafka's Sensor with Meter, Avg and Max)."""

    __slots__ = ("_ends", "_windows", "count", "total")

    def __init__(self) -> None:
        self.count = 0
        """How many values there ever were."""
        self.total = 0
        """Their sum."""
        self._windows: deque[_Window] = deque(maxlen=WINDOWS + 1)
        self._ends: Instant = 0
        """When the newest window takes no more."""

    def record(self, now: Instant, value: int = 1) -> None:
        """Take in a value, which is not negative."""
        if now >= self._ends:
            self._windows.append(_Window(now))
            self._ends = now + WINDOW
        window = self._windows[-1]
        window.last = now
        window.count += 1
        window.total += value
        window.most = max(window.most, value)
        self.count += 1
        self.total += value

    def count_per_second(self, now: Instant) -> float:
        """Return how many values there were in a second (Kafka's Rate of a WindowedCount)."""
        return sum(window.count for window in self._counting(now)) / self._seconds(now)

    def total_per_second(self, now: Instant) -> float:
        """Return the sum of the values in a second (Kafka's Rate of a WindowedSum)."""
        return sum(window.total for window in self._counting(now)) / self._seconds(now)

    def mean(self, now: Instant) -> float:
        """Return the mean of the values of late; as in Kafka no number if there were none."""
        counting = list(self._counting(now))
        return sum(window.total for window in counting) / sum(window.count for window in counting) if counting else nan

    def most(self, now: Instant) -> float:
        """Return the greatest value of late; as in Kafka no number if there was none."""
        return max((float(window.most) for window in self._counting(now)), default=nan)

    def _counting(self, now: Instant) -> Iterator[_Window]:
        return (window for window in self._windows if now - window.last < WINDOWS * WINDOW)

    def _seconds(self, now: Instant) -> float:
        """Return the time over which a rate goes: at least all windows but the newest, and what has passed of that."""
        passed = now - min((window.begins for window in self._counting(now)), default=now)
        missing = max(0, WINDOWS - 1 - passed // WINDOW)
        return max(passed + missing * WINDOW, 1) / SECOND
