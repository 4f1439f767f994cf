"""What time is it? The wall's, but never going back."""

from __future__ import annotations

import time
from collections.abc import Callable

from kmirror.kernel.clock import SECOND, Instant

LEAP: Instant = SECOND
"""The wall's clock is followed when it is so far ahead: it was set, or the machine slept."""


class Clock:
    """Real time as `Instant`s, from one call to the next never less.

    A wall clock that is set back does not stop the timers: time runs on from where it was.
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
        """Leap to the wall's time if that is well ahead; return whether it was. To be called now and then."""
        offset = self._wall_ns() - self._monotonic_ns()
        if offset - self._offset_ns < LEAP * 1_000:
            return False
        self._offset_ns = offset
        return True
