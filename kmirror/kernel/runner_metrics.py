"""Metrics that only the runner of a node can measure.

These are the time when a response was written, the number of connections of a link, and network operations. The runner
counts them for each process from start to end, and passes them in when the node is asked for its metrics. They
influence no decision.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import OutboundLink, Timed
from kmirror.kernel.meters import Histogram
from kmirror.kernel.sensor import Sensor


@dataclass(slots=True, eq=False)
class LinkCounts:
    """Counts of a link requested with `CountLink`, over all of its connections."""

    opened: Sensor = field(default_factory=Sensor)
    """Connections."""
    closed: Sensor = field(default_factory=Sensor)
    """Connections that were closed, by either side."""
    secured: Sensor = field(default_factory=Sensor)
    """Successful TLS handshakes."""
    not_secured: Sensor = field(default_factory=Sensor)
    """Failed TLS handshakes."""
    operations: Sensor = field(default_factory=Sensor)
    """System calls that moved bytes: one per frame in the simulator, none between nodes of one process."""
    wakeups: Sensor = field(default_factory=Sensor)
    """Number of notifications that bytes can be moved."""


@dataclass(slots=True, eq=False)
class RequestTimes:
    """Times of the requests of one API, in the parts of Kafka's RequestMetrics."""

    queue_ms: Histogram = field(default_factory=Histogram)
    local_ms: Histogram = field(default_factory=Histogram)
    remote_ms: Histogram = field(default_factory=Histogram)
    answer_queue_ms: Histogram = field(default_factory=Histogram)
    answer_send_ms: Histogram = field(default_factory=Histogram)
    total_ms: Histogram = field(default_factory=Histogram)

    def add(self, timed: Timed, handed_over: Instant, begun: Instant, written: Instant) -> None:
        """Add a request: times when its response reached the runner, began to be written, and was with the system."""
        # `local` is measured within an event; the other times are those of its start.
        remote = max(0, handed_over - timed.begun - timed.local)
        for histogram, span in (
            (self.queue_ms, timed.begun - timed.arrived),
            (self.local_ms, timed.local),
            (self.remote_ms, remote),
            (self.answer_queue_ms, begun - handed_over),
            (self.answer_send_ms, written - begun),
            (self.total_ms, written - timed.arrived),
        ):
            histogram.add(span / MILLISECOND)


@dataclass(slots=True, eq=False)
class RunnerMetrics:
    """All metrics that the runner counted for one process."""

    links: dict[OutboundLink, LinkCounts] = field(default_factory=dict)
    times: dict[str, RequestTimes] = field(default_factory=dict)
    """Keyed by `Timed.name`."""

    def answered(self, timed: Timed, handed_over: Instant, begun: Instant, written: Instant) -> None:
        """Record when a response was written (`RequestTimes.add`)."""
        self.times.setdefault(timed.name, RequestTimes()).add(timed, handed_over, begun, written)
