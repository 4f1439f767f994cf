"""Plan of metadata refreshes of a mirror's source: their times and topics."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kmirror.kernel.clock import Instant


@dataclass(slots=True)
class RefreshPlan:
    """The topics that one mirror will refresh, and when it may."""

    not_before: Instant = 0
    """Refreshes keep a minimum distance, no matter how many partitions want one."""
    regular_at: Instant = 0
    """When all topics are refreshed, even without a request."""
    timer_at: Instant | None = None
    """When the next look at this plan is due; None if no timer is set."""
    wants_all: bool = False
    wanted: dict[str, None] = field(default_factory=dict)
    """Topics whose last response is not enough for some partition."""

    def want(self, topics: Iterable[str]) -> None:
        """Request some topics, or all if none is named."""
        named = dict.fromkeys(topics)
        self.wanted.update(named)
        self.wants_all = self.wants_all or not named

    def takes_all(self, now: Instant) -> bool:
        """Return whether the next refresh is one of all topics."""
        return self.wants_all or now >= self.regular_at

    def next_at(self) -> Instant:
        """Return when the next refresh is due."""
        return self.not_before if self.wants_all or self.wanted else max(self.not_before, self.regular_at)
