"""What does a client count of one of its links? What Kafka's NetworkClient tells of itself, as far as a node sees it.

Connections and calls of the system are counted by the node's runner (`kernel.told_by_runner`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import PREFIX_BYTES
from kmirror.kernel.sensor import Sensor


@dataclass(slots=True, eq=False)
class ClientCounts:
    """Counts of one link; what goes over it to authenticate is no request, as in Kafka."""

    requests: Sensor = field(default_factory=Sensor)
    """Sizes of requests in bytes, as they were sent."""
    responses: Sensor = field(default_factory=Sensor)
    """Sizes of answers in bytes."""
    authenticated: Sensor = field(default_factory=Sensor)
    """Connections on which the broker took us for whom we are, by SASL."""
    refused: Sensor = field(default_factory=Sensor)
    """Connections on which it did not."""
    reauthenticated: Sensor = field(default_factory=Sensor)
    """How long it took to authenticate once more, in milliseconds."""
    refused_again: Sensor = field(default_factory=Sensor)
    """How often that was refused."""

    def sent(self, now: Instant, size: int) -> None:
        """Take in a request of `size` bytes; as in Kafka the length before it counts."""
        self.requests.record(now, PREFIX_BYTES + size)

    def answered(self, now: Instant, size: int) -> None:
        """Take in an answer of `size` bytes."""
        self.responses.record(now, PREFIX_BYTES + size)

    def accepted(self, now: Instant, took: Duration, *, again: bool) -> None:
        """Take in that we were authenticated, for the first time on a connection or once more."""
        if again:
            self.reauthenticated.record(now, took // MILLISECOND)
        else:
            self.authenticated.record(now)

    def was_refused(self, now: Instant, *, again: bool) -> None:
        """Take in that we were not."""
        (self.refused_again if again else self.refused).record(now)
