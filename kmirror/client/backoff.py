"""How long does a client wait before it asks again? Longer each time, as `retry.backoff.ms` and its maximum say.

Kafka's clients spread the pause by 20 % at random (KIP-580). Ours do not: they are deterministic, and the nodes that
they ask are not asked by thousands of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    first_ms: int
    most_ms: int

    def pause_ms(self, attempts: int) -> int:
        """Return the pause after `attempts` earlier failures: doubled each time, up to the maximum."""
        return min(self.first_ms << min(attempts, 30), self.most_ms)
