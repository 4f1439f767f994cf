"""Exponential backoff between `retry.backoff.ms` and its maximum (KIP-580).

Kafka's clients vary the pause at random by 20 %. Ours do not, because they are deterministic, and no node here has
thousands of clients at once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """The first and the longest pause, in milliseconds."""

    first_ms: int
    max_ms: int

    def pause_ms(self, attempts: int) -> int:
        """Return the pause after `attempts` earlier failures: doubled each time, up to the maximum."""
        return min(self.first_ms << min(attempts, 30), self.max_ms)
