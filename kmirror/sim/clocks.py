"""Clock errors of simulated nodes: offset and drift against the world's time.

As in the asyncio runner, a node has one clock, for the timestamps of records and for measuring time. The clock never
goes back while the node runs. After a jump ahead, timers set before it still fire at their original instants.
"""

from __future__ import annotations

from dataclasses import dataclass

from kmirror.kernel.clock import Duration, Instant

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class WrongClock:
    """Clock that is `ahead` of the world's time (negative: behind), and gains `ppm` microseconds per second."""

    ahead: Duration
    ppm: int
    since: Instant
    """Time at which it was set."""

    def local(self, now: Instant) -> Instant:
        """Return the time on this clock at an instant of the world."""
        return now + self.ahead + (now - self.since) * self.ppm // MILLION

    def instant(self, local: Instant) -> Instant:
        """Return the first instant of the world at which this clock shows `local` or more."""
        span = local - self.since - self.ahead
        return self.since - (-span * MILLION) // (MILLION + self.ppm)
