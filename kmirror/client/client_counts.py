"""Counts of a client for one of its links, as in Kafka's NetworkClient, as far as a node can see them.

The node's runner counts connections and system calls (`kernel.runner_metrics`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import PREFIX_BYTES
from kmirror.kernel.sensor import Sensor


@dataclass(slots=True, eq=False)
class ClientCounts:
    """Counts of one link; the messages of an authentication do not count as requests, as in Kafka."""

    requests: Sensor = field(default_factory=Sensor)
    """Sizes of requests in bytes, as they were sent."""
    responses: Sensor = field(default_factory=Sensor)
    """Sizes of responses in bytes."""
    authenticated: Sensor = field(default_factory=Sensor)
    """Connections on which the broker authenticated us, by SASL."""
    failed_authentications: Sensor = field(default_factory=Sensor)
    """Connections on which it rejected us."""
    reauthenticated: Sensor = field(default_factory=Sensor)
    """Durations of reauthentications, in milliseconds."""
    failed_reauthentications: Sensor = field(default_factory=Sensor)
    """Reauthentications that were rejected."""

    def record_request(self, now: Instant, size: int) -> None:
        """Record a request of `size` bytes; as in Kafka the length prefix counts as well."""
        self.requests.record(now, PREFIX_BYTES + size)

    def record_response(self, now: Instant, size: int) -> None:
        """Record a response of `size` bytes."""
        self.responses.record(now, PREFIX_BYTES + size)

    def record_authentication(self, now: Instant, duration: Duration, *, is_reauthentication: bool) -> None:
        """Record that we were authenticated, for the first time on a connection or again."""
        if is_reauthentication:
            self.reauthenticated.record(now, duration // MILLISECOND)
        else:
            self.authenticated.record(now)

    def record_failure(self, now: Instant, *, is_reauthentication: bool) -> None:
        """Record that we were rejected."""
        (self.failed_reauthentications if is_reauthentication else self.failed_authentications).record(now)
