"""Monotonic clock that follows the wall clock forward."""

from __future__ import annotations

import time
from collections.abc import Callable

from kmirror.kernel.clock import SECOND, Instant

LEAP: Instant = SECOND
"""Minimum lead of the wall clock at which this clock jumps to it: the wall clock was set, or the machine slept."""


class Clock:
    """Real time as `Instant`s that never decrease.

    A wall clock that is set back does not stop the timers: this clock continues from its last value.
    """

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._wall_ns = wall_ns
        self._monotonic_ns = monotonic_ns
        self._offset_ns = wall_ns() - monotonic_ns()

    def now(self) -> Instant:
        """Return the time in microseconds since the Unix epoch."""
        return (self._monotonic_ns() + self._offset_ns) // 1_000

    def follow_wall(self) -> bool:
        """Jump to the wall clock if it is at least `LEAP` ahead, and return whether it was.

        Must be called periodically.
        """
        offset = self._wall_ns() - self._monotonic_ns()
        if offset - self._offset_ns < LEAP * 1_000:
            return False
        self._offset_ns = offset
        return True
