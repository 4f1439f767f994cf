"""Requests of a broker's partitions to the mirror's coordinators, batched for each event.

At most one request is under way to each coordinator for each mirror. Rows that come meanwhile are sent after its
response: the coordinator takes one request of a link at a time, so sending them earlier would gain nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from kmirror.cluster.node.context import BrokerContext
from kmirror.kernel.clock import Instant
from kmirror.mirror.coordinator import MirrorCoordinator
from kmirror.mirror.state_records import StateKey
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

CHANNEL = "mirror-states"
"""Reads and writes share a link, so that a read comes after the writes that were sent before it."""
ROWS_MAX = 1000
BYTES_MAX = 1 << 20
"""Bounds of a request, the second in approximate bytes: they limit the coordinator's work for one request.
"""

QueueKey = tuple[int, str]
"""(broker that coordinates, mirror)"""
RowKey = tuple[str, int]
"""(topic, partition): the place of a row in request and response."""


class Row(Protocol):
    """The request of one partition."""

    @property
    def key(self) -> StateKey: ...

    @property
    def topic(self) -> str: ...

    @property
    def size(self) -> int:
        """Approximate size in a request, in bytes."""
        ...

    def is_wanted(self) -> bool:
        """Return whether it must still be sent; if not, it ends without a response."""
        ...


R = TypeVar("R", bound=Row)
A = TypeVar("A")


class StateRequests(ABC, Generic[R, A]):
    """Rows of one kind on their way to the coordinators.

    Each row ends in one call, of `call_coordinator`, `complete` or `fail`.
    """

    def __init__(self, broker: BrokerContext, coordinator: MirrorCoordinator) -> None:
        self._broker = broker
        self.coordinator = coordinator
        self._unrouted: list[R] = []
        """Rows whose coordinator has yet to be looked up."""
        self._queues: dict[QueueKey, list[R]] = {}
        self._under_way: dict[QueueKey, None] = {}
        """The queues with a request under way."""
        self._ready: dict[QueueKey, None] = {}
        """The queues that may have something to send."""

    @abstractmethod
    def call_coordinator(self, now: Instant, row: R) -> None:
        """Ask the coordinator in this broker."""

    @abstractmethod
    def request(self, mirror: str, rows: Mapping[RowKey, R]) -> Message:
        """Return the request for rows of one mirror."""

    @abstractmethod
    def results_in(self, reply: Message | None) -> tuple[Mapping[RowKey, A], ErrorCode]:
        """Return the result of each row in a response, and the error for rows without one."""

    @abstractmethod
    def complete(self, now: Instant, row: R, result: A) -> None:
        """End a row with its result."""

    @abstractmethod
    def fail(self, now: Instant, row: R, error: ErrorCode) -> None:
        """End a row that has no result."""

    def add(self, row: R) -> None:
        """Send `row` when the present event ends."""
        self._unrouted.append(row)
        self._broker.defer(self.send_pending)

    def reroute(self) -> None:
        """Send the waiting rows to their new coordinators; called when the coordinators have changed."""
        for queue in self._queues.values():
            self._unrouted = [*queue, *self._unrouted]
        self._queues.clear()
        self._broker.defer(self.send_pending)

    def send_pending(self, now: Instant) -> None:
        """Send the added rows of all queues without a request under way."""
        unrouted, self._unrouted = self._unrouted, []
        for row in unrouted:
            try:
                self._route(now, row)
            except Exception as failure:
                self._caught(row, failure)
        ready, self._ready = self._ready, {}
        for key in ready:
            if key not in self._under_way:
                self._send(now, key)

    def _route(self, now: Instant, row: R) -> None:
        """Ask here, or put the row into the queue of its coordinator."""
        shard = self.coordinator.shard_of(row.key)
        if shard is None:
            self.coordinator.ensure(now)
        image = None if shard is None else self._broker.image.topics.partition(shard)
        if image is None or not row.is_wanted():
            self.fail(now, row, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        elif image.leader == self._broker.node_id:
            self.call_coordinator(now, row)
        else:
            key = (image.leader, row.key.mirror)
            self._queues.setdefault(key, []).append(row)
            self._ready[key] = None

    def _send(self, now: Instant, key: QueueKey) -> None:
        """Send the rows of a queue that fit into one request."""
        sent, rest = split([row for row in self._queues.pop(key, ()) if self._is_wanted(now, row)])
        if not sent:
            return
        self._queues[key] = rest

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._under_way.pop(key, None)
            self._ready[key] = None
            self._broker.defer(self.send_pending)
            self._end(later, sent, reply)

        leader, mirror = key
        self._under_way[key] = None
        if not self._broker.ask_broker(now, leader, CHANNEL, self.request(mirror, sent), on_reply):
            on_reply(now, None)

    def _is_wanted(self, now: Instant, row: R) -> bool:
        """Return whether a row must still be sent; end it if not."""
        if row.is_wanted():
            return True
        try:
            self.fail(now, row, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        except Exception as failure:
            self._caught(row, failure)
        return False

    def _end(self, now: Instant, sent: Mapping[RowKey, R], reply: Message | None) -> None:
        results, error = self.results_in(reply)
        for row_key, row in sent.items():
            result = results.get(row_key)
            try:
                if result is None:
                    self.fail(now, row, error)
                else:
                    self.complete(now, row, result)
            except Exception as failure:
                self._caught(row, failure)

    def _caught(self, row: R, failure: Exception) -> None:
        """Count a failure; it must not affect the other rows."""
        self._broker.failures.report(f"the persisted state of {row.topic}-{row.key.partition}", failure)


def split(rows: Sequence[R]) -> tuple[dict[RowKey, R], list[R]]:
    """Return the rows that go into one request, by place, and the rest."""
    sent: dict[RowKey, R] = {}
    size = 0
    for number, row in enumerate(rows):
        row_key = (row.topic, row.key.partition)
        size += row.size
        if row_key in sent or len(sent) == ROWS_MAX or (sent and size > BYTES_MAX):
            return sent, list(rows[number:])
        sent[row_key] = row
    return sent, []
