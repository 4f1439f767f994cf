"""Wrong clocks: what a node takes for the time, where that is not the world's.

A node has one clock, as in the asyncio runner: it dates records with it and measures time with it. It never goes back
while the node runs; one that is set ahead leaps, and timers that were set before go off when they would have.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.clock import Duration, Instant

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class WrongClock:
    """A clock that is `ahead` of the world's (below 0: behind), and gains `ppm` microseconds in each second."""

    ahead: Duration
    ppm: int
    since: Instant
    """When it was set."""

    def local(self, now: Instant) -> Instant:
        """Return what the clock shows at an instant of the world."""
        return now + self.ahead + (now - self.since) * self.ppm // MILLION

    def instant(self, local: Instant) -> Instant:
        """Return the instant of the world from which on the clock shows `local` or more."""
        span = local - self.since - self.ahead
        return self.since - (-span * MILLION) // (MILLION + self.ppm)
