"""Cost of an event in an idle simulated cluster, compared with its minimum (E4).

Three brokers and their controller only keep in touch: heartbeats, long polls of followers and of the metadata log,
timers. The limit of an event with a frame is to decode the frame, to encode the same message and to update one SHA-256
with it; that of an event without a frame, such as a timer, is one such update with its line of the trace. So the limit
includes both codecs of each message and the digest; above it are the heap, the dispatch, the work of the nodes, effects
and network.

The events of a virtual minute are recorded first, by a recorder in front of each node. The limit is measured with
those; kmirror's value is the processor time of other minutes of the same run for each event that reaches a node,
without the recorder.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.harness import Case, no_runs
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Chunk, Effect, Event, Link, Node, RequestReceived, ResponseReceived, Send
from kmirror.protocol.headers import (
    RequestHead,
    decode_request,
    decode_response,
    encode_request_chunks,
    encode_response_chunks,
    peek_request,
)
from kmirror.sim.cluster import Cluster
from kmirror.sim.simulation import Simulation

MINUTE_S = 60.0
PARTITIONS = 4


LIMIT_REPETITIONS = 4  # Repetitions, to take about as long as a minute of kmirror.
WARM_UP_S = 5.0  # Every request in flight has been answered by then.


@dataclass(frozen=True, slots=True)
class ObservedEvent:
    """One event, with the data that the limit needs."""

    data: Chunk
    """The frame, or the digest's input for an event without a frame."""
    is_request: bool = False
    request_head: RequestHead | None = None
    """For a response: the head of its request."""


@dataclass
class Minute:
    """Events of all nodes, in order."""

    events: list[ObservedEvent] = field(default_factory=list)
    request_heads: dict[tuple[str, Link, int], RequestHead] = field(default_factory=dict)
    """(node, link, correlation id) of the requests in flight."""


@dataclass(frozen=True, slots=True)
class EventRecorder:
    """Wraps a node and records its events."""

    name: str
    node: Node
    minute: Minute

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the node's effects."""
        self.minute.events.append(self._observe(now, event))
        effects = self.node.handle(now, event)
        for effect in effects:
            if isinstance(effect, Send):
                head = peek_request(b"".join(effect.chunks))
                self.minute.request_heads[self.name, effect.link, head.correlation_id] = head
        return effects

    def _observe(self, now: Instant, event: Event) -> ObservedEvent:
        if isinstance(event, RequestReceived):
            return ObservedEvent(event.frame, is_request=True)
        if isinstance(event, ResponseReceived):
            key = (self.name, event.link, int.from_bytes(event.frame[:4], "big"))
            return ObservedEvent(event.frame, request_head=self.minute.request_heads.pop(key, None))
        return ObservedEvent(f"{now} {self.name} {event}".encode())


def idle_cluster() -> Simulation:
    """Return a simulation with one cluster that has converged."""
    simulation = Simulation(seed=1)
    cluster = Cluster(simulation, "a", brokers=3)
    cluster.start()
    cluster.create_topic("orders", PARTITIONS)
    simulation.run_for(span_s=WARM_UP_S)
    assert cluster.is_settled()
    return simulation


def record_events(span_s: float) -> list[ObservedEvent]:
    """Return the events of `span_s` idle seconds."""
    simulation, minute = idle_cluster(), Minute()
    for process in simulation.world.processes.values():
        if process.node is not None:
            process.node = EventRecorder(process.name, process.node, minute)
    simulation.run_for(span_s=WARM_UP_S)
    minute.events.clear()
    lines = simulation.world.trace.count
    simulation.run_for(span_s=span_s)
    assert simulation.world.trace.count - lines == len(minute.events), "the trace has a line for each event"
    return minute.events


def limit(events: list[ObservedEvent]) -> None:
    """Do the minimum work of each event."""
    digest = hashlib.sha256()
    for event in events:
        if event.is_request:
            head, request = decode_request(event.data)
            encode_request_chunks(
                request, head.api_version, correlation_id=head.correlation_id, client_id=head.client_id
            )
        elif (request_head := event.request_head) is not None:
            correlation_id, response = decode_response(event.data, request_head.api_key, request_head.api_version)
            encode_response_chunks(response, request_head.api_version, correlation_id=correlation_id)
        digest.update(event.data)


def idle_events(span_s: float = MINUTE_S) -> Callable[[int], list[float]]:
    def measure(pairs: int) -> list[float]:
        events = record_events(span_s)
        simulation = idle_cluster()
        trace = simulation.world.trace
        limit(events)
        ratios = []
        for _ in range(pairs):
            lines = trace.count
            start = time.process_time_ns()
            simulation.run_for(span_s=span_s)
            ours = (time.process_time_ns() - start) / (trace.count - lines)
            start = time.process_time_ns()
            for _ in range(LIMIT_REPETITIONS):
                limit(events)
            theirs = (time.process_time_ns() - start) / (LIMIT_REPETITIONS * len(events))
            ratios.append(theirs / ours)
        return ratios

    return measure


def cases() -> list[Case]:
    return [Case("E4", "limit / cost of an idle simulated event", "kmirror", no_runs, 0.33, 0.6, idle_events())]
