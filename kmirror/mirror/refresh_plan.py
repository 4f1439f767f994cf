"""When is the source of a mirror asked for metadata again, and about which topics?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kmirror.kernel.clock import Instant


@dataclass(slots=True)
class RefreshPlan:
    """What one mirror wants to know of its source's topics, and when it may ask."""

    not_before: Instant = 0
    """Refreshes keep a distance, however many partitions want one."""
    regular_at: Instant = 0
    """When all topics are asked about again, though nobody has wanted it."""
    timer_at: Instant | None = None
    """When the next look at this plan is due; None if no timer is set."""
    wants_all: bool = False
    wanted: dict[str, None] = field(default_factory=dict)
    """Topics that somebody wants to know more about than what was last answered."""

    def want(self, topics: Iterable[str]) -> None:
        """Want some topics, or all if none is named."""
        named = dict.fromkeys(topics)
        self.wanted.update(named)
        self.wants_all = self.wants_all or not named

    def takes_all(self, now: Instant) -> bool:
        """Return whether the next refresh is one of all topics."""
        return self.wants_all or now >= self.regular_at

    def next_at(self) -> Instant:
        """Return when the next refresh is due."""
        return self.not_before if self.wants_all or self.wanted else max(self.not_before, self.regular_at)
