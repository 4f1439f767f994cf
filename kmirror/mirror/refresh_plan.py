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
    next_full_at: Instant = 0
    """When all topics are refreshed, even without a request."""
    timer_at: Instant | None = None
    """When this plan is examined next; None if no timer is set."""
    full_requested: bool = False
    requested: dict[str, None] = field(default_factory=dict)
    """Topics whose last response is not enough for some partition."""

    def request(self, topics: Iterable[str]) -> None:
        """Request some topics, or all if none is named."""
        names = dict.fromkeys(topics)
        self.requested.update(names)
        self.full_requested = self.full_requested or not names

    def is_full(self, now: Instant) -> bool:
        """Return whether the next refresh is one of all topics."""
        return self.full_requested or now >= self.next_full_at

    def next_at(self) -> Instant:
        """Return when the next refresh is due."""
        return self.not_before if self.full_requested or self.requested else max(self.not_before, self.next_full_at)
