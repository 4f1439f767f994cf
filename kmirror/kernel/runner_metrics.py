"""Metrics that only the runner of a node can measure.

These are the time when a response was written, the number of connections of a link, and network operations. The runner
counts them for each process from start to end, and passes them to the node when its metrics are requested. They
influence no decision.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import OutboundLink, RequestTiming
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

    def add(self, timing: RequestTiming, handed_over_at: Instant, began_at: Instant, written_at: Instant) -> None:
        """Add a request: times when its response reached the runner, began to be written, and was with the system."""
        # `local` is measured within an event; the other times are those of its start.
        remote = max(0, handed_over_at - timing.began_at - timing.local)
        for histogram, span in (
            (self.queue_ms, timing.began_at - timing.arrived_at),
            (self.local_ms, timing.local),
            (self.remote_ms, remote),
            (self.answer_queue_ms, began_at - handed_over_at),
            (self.answer_send_ms, written_at - began_at),
            (self.total_ms, written_at - timing.arrived_at),
        ):
            histogram.add(span / MILLISECOND)


@dataclass(slots=True, eq=False)
class RunnerMetrics:
    """All metrics that the runner counted for one process."""

    links: dict[OutboundLink, LinkCounts] = field(default_factory=dict)
    times: dict[str, RequestTimes] = field(default_factory=dict)
    """Keyed by `RequestTiming.name`."""

    def answered(self, timing: RequestTiming, handed_over_at: Instant, began_at: Instant, written_at: Instant) -> None:
        """Record when a response was written (`RequestTimes.add`)."""
        self.times.setdefault(timing.name, RequestTimes()).add(timing, handed_over_at, began_at, written_at)
