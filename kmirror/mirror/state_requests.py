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

Lane = tuple[int, str]
"""(broker that coordinates, mirror)"""
Place = tuple[str, int]
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
    """Rows of one kind on their way to the coordinators; each ends in one call, of `ask_here`, `take` or `fail`."""

    def __init__(self, broker: BrokerContext, coordinator: MirrorCoordinator) -> None:
        self._broker = broker
        self.coordinator = coordinator
        self._wanted: list[R] = []
        """Rows whose coordinator has yet to be looked up."""
        self._queues: dict[Lane, list[R]] = {}
        self._under_way: dict[Lane, None] = {}
        """The lanes with a request under way."""
        self._ready: dict[Lane, None] = {}
        """The lanes that may have something to send."""

    @abstractmethod
    def ask_here(self, now: Instant, row: R) -> None:
        """Ask the coordinator in this broker."""

    @abstractmethod
    def request(self, mirror: str, rows: Mapping[Place, R]) -> Message:
        """Return the request for rows of one mirror."""

    @abstractmethod
    def answers_in(self, reply: Message | None) -> tuple[Mapping[Place, A], ErrorCode]:
        """Return the result of each row in a response, and the error for rows without one."""

    @abstractmethod
    def take(self, now: Instant, row: R, answer: A) -> None:
        """End a row with its result."""

    @abstractmethod
    def fail(self, now: Instant, row: R, error: ErrorCode) -> None:
        """End a row that has no result."""

    def ask(self, row: R) -> None:
        """Send `row` when the present event ends."""
        self._wanted.append(row)
        self._broker.at_end(self.send_wanted)

    def reroute(self) -> None:
        """Send the waiting rows to their new coordinators; called when the coordinators have changed."""
        for queue in self._queues.values():
            self._wanted = [*queue, *self._wanted]
        self._queues.clear()
        self._broker.at_end(self.send_wanted)

    def send_wanted(self, now: Instant) -> None:
        """Send the rows that were asked for, on lanes without a request under way."""
        wanted, self._wanted = self._wanted, []
        for row in wanted:
            try:
                self._route(now, row)
            except Exception as failure:
                self._caught(row, failure)
        ready, self._ready = self._ready, {}
        for lane in ready:
            if lane not in self._under_way:
                self._send(now, lane)

    def _route(self, now: Instant, row: R) -> None:
        """Ask here, or put the row into the queue of its coordinator."""
        shard = self.coordinator.shard_of(row.key)
        if shard is None:
            self.coordinator.ensure(now)
        image = None if shard is None else self._broker.image.topics.partition(shard)
        if image is None or not row.is_wanted():
            self.fail(now, row, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        elif image.leader == self._broker.node_id:
            self.ask_here(now, row)
        else:
            lane = (image.leader, row.key.mirror)
            self._queues.setdefault(lane, []).append(row)
            self._ready[lane] = None

    def _send(self, now: Instant, lane: Lane) -> None:
        """Send the rows of a queue that fit into one request."""
        asked, left = split([row for row in self._queues.pop(lane, ()) if self._is_wanted(now, row)])
        if not asked:
            return
        self._queues[lane] = left

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._under_way.pop(lane, None)
            self._ready[lane] = None
            self._broker.at_end(self.send_wanted)
            self._end(later, asked, reply)

        leader, mirror = lane
        self._under_way[lane] = None
        if not self._broker.ask_broker(now, leader, CHANNEL, self.request(mirror, asked), on_reply):
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

    def _end(self, now: Instant, asked: Mapping[Place, R], reply: Message | None) -> None:
        answers, error = self.answers_in(reply)
        for place, row in asked.items():
            answer = answers.get(place)
            try:
                if answer is None:
                    self.fail(now, row, error)
                else:
                    self.take(now, row, answer)
            except Exception as failure:
                self._caught(row, failure)

    def _caught(self, row: R, failure: Exception) -> None:
        """Count a failure; it must not affect the other rows."""
        self._broker.failures.caught(f"the persisted state of {row.topic}-{row.key.partition}", failure)


def split(rows: Sequence[R]) -> tuple[dict[Place, R], list[R]]:
    """Return the rows that go into one request, by place, and the rest."""
    asked: dict[Place, R] = {}
    size = 0
    for number, row in enumerate(rows):
        place = (row.topic, row.key.partition)
        size += row.size
        if place in asked or len(asked) == ROWS_MAX or (asked and size > BYTES_MAX):
            return asked, list(rows[number:])
        asked[place] = row
    return asked, []
