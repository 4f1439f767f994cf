"""What a broker's partitions ask the mirror's coordinators, as few requests: those of one event go out together.

At most one request is under way to each coordinator for each mirror. What is wanted meanwhile goes out when the answer
is there: the coordinator takes one request of a link at a time, so nothing would be gained by sending it earlier.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from kmirror.cluster.broker.context import BrokerContext
from kmirror.kernel.clock import Instant
from kmirror.mirror.coordinator import MirrorCoordinator
from kmirror.mirror.state_records import StateKey
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode

CHANNEL = "mirror-states"
"""Reads and writes share a link, so that a read comes after the writes that were sent before it."""
ROWS_MAX = 1000
BYTES_MAX = 1 << 20
"""Bounds of a request, the second in about the bytes of its rows: what the coordinator decides and writes at a time."""

Lane = tuple[int, str]
"""(broker that coordinates, mirror)"""
Place = tuple[str, int]
"""(topic, partition): a row's place in request and answer."""


class Row(Protocol):
    """What one partition asks."""

    @property
    def key(self) -> StateKey: ...

    @property
    def topic(self) -> str: ...

    @property
    def size(self) -> int:
        """Return about how many bytes it takes in a request."""
        ...

    def is_wanted(self) -> bool:
        """Return whether it is still to be asked; if not, it ends without an answer."""
        ...


R = TypeVar("R", bound=Row)
A = TypeVar("A")


class StateRequests(ABC, Generic[R, A]):
    """Rows of one kind on their way to the coordinators; each ends in one call, of `ask_here`, `take` or `fail`."""

    def __init__(self, broker: BrokerContext, coordinator: MirrorCoordinator) -> None:
        self._broker = broker
        self.coordinator = coordinator
        self._wanted: list[R] = []
        self._held: dict[Lane, list[R]] = {}
        """Coordinators and mirrors with a request under way, to the rows that wait for its end."""

    @abstractmethod
    def ask_here(self, now: Instant, row: R) -> None:
        """Ask the coordinator in this broker."""

    @abstractmethod
    def request(self, mirror: str, rows: Mapping[Place, R]) -> Message:
        """Return the request for rows of one mirror."""

    @abstractmethod
    def answers_in(self, reply: Message | None) -> tuple[Mapping[Place, A], ErrorCode]:
        """Return the answer to each row, and the error of those that have none."""

    @abstractmethod
    def take(self, now: Instant, row: R, answer: A) -> None:
        """End a row with its answer."""

    @abstractmethod
    def fail(self, now: Instant, row: R, error: ErrorCode) -> None:
        """End a row that got no answer."""

    def ask(self, row: R) -> None:
        """Have `row` asked when the present event ends."""
        self._wanted.append(row)
        self._broker.at_end(self.send_wanted)

    def reroute(self) -> None:
        """Have the rows that wait go to whoever coordinates them now, not only when the request under way has ended."""
        for lane, held in self._held.items():
            self._held[lane] = []
            self._ask_first(held)

    def _ask_first(self, rows: Sequence[R]) -> None:
        self._wanted = [*rows, *self._wanted]
        self._broker.at_end(self.send_wanted)

    def send_wanted(self, now: Instant) -> None:
        """Send what was asked for since the last call."""
        wanted, self._wanted = self._wanted, []
        ready: dict[Lane, list[R]] = {}
        for row in wanted:
            try:
                self._route(now, row, ready)
            except Exception as failure:
                self._caught(row, failure)
        for lane, rows in ready.items():
            self._send(now, lane, rows)

    def _route(self, now: Instant, row: R, ready: dict[Lane, list[R]]) -> None:
        """Ask here, or add the row to those that wait for a request or are ready for one."""
        shard = self.coordinator.shard_of(row.key)
        image = None if shard is None else self._broker.image.partition(shard)
        if image is None or not row.is_wanted():
            self.fail(now, row, ErrorCode.COORDINATOR_NOT_AVAILABLE)
        elif image.leader == self._broker.node_id:
            self.ask_here(now, row)
        else:
            lane = (image.leader, row.key.mirror)
            (self._held if lane in self._held else ready).setdefault(lane, []).append(row)

    def _send(self, now: Instant, lane: Lane, rows: Sequence[R]) -> None:
        """Send the first of `rows`, as many as a request takes; hold the others until it is answered."""
        leader, mirror = lane
        asked, held = split(rows)

        def on_reply(later: Instant, reply: Message | None) -> None:
            self._ask_first(self._held.pop(lane, ()))  # Another broker may coordinate them by now.
            self._end(later, asked, reply)

        self._held[lane] = held
        if not self._broker.ask_broker(now, leader, CHANNEL, self.request(mirror, asked), on_reply):
            on_reply(now, None)

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
        """Count a failure; the other rows are not to suffer from it."""
        self._broker.failures.caught(f"the persisted state of {row.topic}-{row.key.partition}", failure)


def split(rows: Sequence[R]) -> tuple[dict[Place, R], list[R]]:
    """Return the rows that go into one request, by place, and those that are left, in their order."""
    asked: dict[Place, R] = {}
    left: list[R] = []
    size = 0
    for row in rows:
        place = (row.topic, row.key.partition)
        size += row.size
        if left or place in asked or len(asked) == ROWS_MAX or (asked and size > BYTES_MAX):
            left.append(row)
        else:
            asked[place] = row
    return asked, left
