"""Statistics over the last two windows of 30 seconds, as in the metrics of Kafka's clients.

No clock is read: `now` is an argument, and reading changes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import nan

from kmirror.kernel.clock import SECOND, Duration, Instant

WINDOWS = 2
WINDOW: Duration = 30 * SECOND
"""Defaults of Kafka's `metrics.num.samples` and `metrics.sample.window.ms`."""


class _Window:
    __slots__ = ("count", "last", "maximum", "start", "total")

    def __init__(self, start: Instant) -> None:
        self.start = self.last = start
        self.count = self.total = self.maximum = 0


class Sensor:
    """Recorded values, in total and for the last windows (Kafka's Sensor with Meter, Avg and Max)."""

    __slots__ = ("_window_end", "_windows", "count", "total")

    def __init__(self) -> None:
        self.count = 0
        """Number of values in total."""
        self.total = 0
        """Sum of all values."""
        self._windows: deque[_Window] = deque(maxlen=WINDOWS + 1)
        self._window_end: Instant = 0
        """End of the newest window."""

    def record(self, now: Instant, value: int = 1) -> None:
        """Record a non-negative value."""
        if now >= self._window_end:
            self._windows.append(_Window(now))
            self._window_end = now + WINDOW
        window = self._windows[-1]
        window.last = now
        window.count += 1
        window.total += value
        window.maximum = max(window.maximum, value)
        self.count += 1
        self.total += value

    def count_per_second(self, now: Instant) -> float:
        """Return the number of values per second (Kafka's Rate of a WindowedCount)."""
        return sum(window.count for window in self._active_windows(now)) / self._seconds(now)

    def total_per_second(self, now: Instant) -> float:
        """Return the sum of the values per second (Kafka's Rate of a WindowedSum)."""
        return sum(window.total for window in self._active_windows(now)) / self._seconds(now)

    def mean(self, now: Instant) -> float:
        """Return the mean over the windows; as in Kafka, NaN if there are no values."""
        windows = list(self._active_windows(now))
        return sum(window.total for window in windows) / sum(window.count for window in windows) if windows else nan

    def maximum(self, now: Instant) -> float:
        """Return the maximum over the windows; as in Kafka, NaN if there are no values."""
        return max((float(window.maximum) for window in self._active_windows(now)), default=nan)

    def _active_windows(self, now: Instant) -> Iterator[_Window]:
        return (window for window in self._windows if now - window.last < WINDOWS * WINDOW)

    def _seconds(self, now: Instant) -> float:
        """Return the time span of a rate in seconds: since the oldest window began, at least all windows but one."""
        elapsed = now - min((window.start for window in self._active_windows(now)), default=now)
        missing = max(0, WINDOWS - 1 - elapsed // WINDOW)
        return max(elapsed + missing * WINDOW, 1) / SECOND
