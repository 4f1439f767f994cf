"""What does only the runner of a node know of what the node tells in numbers?

When an answer was written, how often a link was connected, and what the network did for it. The runner counts it for
each process from its start to its end, and hands it in when the node is asked for its metrics. Nothing is decided by
it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import OutboundLink, Timed
from kmirror.kernel.meters import Histogram
from kmirror.kernel.sensor import Sensor


@dataclass(slots=True, eq=False)
class LinkCounts:
    """What a runner counts of a link for which it was asked by `CountLink`, over all of its connections."""

    opened: Sensor = field(default_factory=Sensor)
    """Connections."""
    closed: Sensor = field(default_factory=Sensor)
    """Of these, those that ended, by whichever side."""
    secured: Sensor = field(default_factory=Sensor)
    """TLS handshakes that succeeded."""
    not_secured: Sensor = field(default_factory=Sensor)
    """TLS handshakes that failed."""
    operations: Sensor = field(default_factory=Sensor)
    """Calls of the system that moved bytes: in the simulator one for each frame, none between nodes of one process."""
    wakeups: Sensor = field(default_factory=Sensor)
    """How often the runner was told that bytes can be moved."""


@dataclass(slots=True, eq=False)
class RequestTimes:
    """How long requests of one API took, by the parts that Kafka's RequestMetrics have."""

    queue_ms: Histogram = field(default_factory=Histogram)
    local_ms: Histogram = field(default_factory=Histogram)
    remote_ms: Histogram = field(default_factory=Histogram)
    answer_queue_ms: Histogram = field(default_factory=Histogram)
    answer_send_ms: Histogram = field(default_factory=Histogram)
    total_ms: Histogram = field(default_factory=Histogram)

    def add(self, timed: Timed, handed_over: Instant, begun: Instant, written: Instant) -> None:
        """Take in a request: when its answer reached the runner, began to be written, and was with the system."""
        # The clock of `local` is read within an event, the others' at its beginning.
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
class ToldByRunner:
    """All that the runner of one process has counted for it."""

    links: dict[OutboundLink, LinkCounts] = field(default_factory=dict)
    times: dict[str, RequestTimes] = field(default_factory=dict)
    """By `Timed.name`."""

    def answered(self, timed: Timed, handed_over: Instant, begun: Instant, written: Instant) -> None:
        """Take in when an answer was written (`RequestTimes.add`)."""
        self.times.setdefault(timed.name, RequestTimes()).add(timed, handed_over, begun, written)
