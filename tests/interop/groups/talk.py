"""Several clients' conversation with one broker, and its results: equal for Kafka and kmirror.

Every client has its own link, so that a request may wait while others are sent. Results contain the parts of a response
that both brokers must agree on: member ids, addresses and times are replaced by names.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, OutboundLink, ResponseReceived, Send
from kmirror.kernel.java import hash_of_text, in_hash_order
from kmirror.protocol.gen.describe_groups_request import DescribeGroupsRequest
from kmirror.protocol.gen.fetch_request import FetchPartition, FetchRequest, FetchTopic
from kmirror.protocol.gen.find_coordinator_request import FindCoordinatorRequest
from kmirror.protocol.headers import decode_response, encode_request
from kmirror.protocol.json_form import to_json
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.sim.cluster import Cluster
from tests.net.wire import Wire, with_size

PATIENCE_SECONDS = 20
OWN = {"host": "its host", "port": "its port", "currentStateTimestamp": "a time"}
ADDRESS = re.compile(r"[0-9]+(\.[0-9]+){3}")
NAMES = ("memberId", "groupId", "key", "name", "topicId")
"""Fields that sort rows whose order depends on member ids, which are random."""


class Peer(Protocol):
    """A broker, and the links to it by name."""

    def send(self, link: str, frame: bytes) -> None: ...

    def receive(self, link: str) -> bytes:
        """Return the next response on a link; wait for it."""
        ...

    def has_answer(self, link: str) -> bool:
        """Return whether there is a response on a link after some time."""
        ...

    def wait(self, seconds: float) -> None: ...


class RealPeer:
    """A broker behind a TCP port."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._links: dict[str, Wire] = {}

    def close(self) -> None:
        for link in self._links.values():
            link.close()

    def send(self, link: str, frame: bytes) -> None:
        if link not in self._links:
            self._links[link] = Wire(self._server)
        self._links[link].send(with_size(frame))

    def receive(self, link: str) -> bytes:
        frame = self._links[link].frame()
        assert frame, f"link {link} was closed"
        return frame

    def has_answer(self, link: str) -> bool:
        return self._links[link].has_data(0.3)

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)


class SimulatedPeer:
    """A kmirror broker in the simulator."""

    NAME = "talk"

    def __init__(self, cluster: Cluster, broker_id: int = 1) -> None:
        self._cluster = cluster
        self.broker_id = broker_id
        """The broker that gets new requests."""
        self._world = cluster.simulation.world
        self._boxes: dict[str, deque[bytes]] = {}
        self._world.add(self.NAME, cluster.name, lambda: self)
        self._world.start(self.NAME)

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        if isinstance(event, ResponseReceived):
            self._boxes[event.link.channel].append(bytes(event.frame))
        return []

    def send(self, link: str, frame: bytes) -> None:
        self._boxes.setdefault(link, deque())
        where = OutboundLink(self._cluster.endpoint(self.broker_id), link)
        self._world.perform(self.NAME, [Send(where, (frame,))])

    def receive(self, link: str) -> bytes:
        self._cluster.simulation.run_until(
            lambda: bool(self._boxes[link]), what=f"an answer on link {link}", within_s=PATIENCE_SECONDS
        )
        return self._boxes[link].popleft()

    def has_answer(self, link: str) -> bool:
        self.wait(0.3)
        return bool(self._boxes[link])

    def wait(self, seconds: float) -> None:
        self._cluster.simulation.run_for(span_s=seconds)


class Talk:
    """Sends requests, and records the comparable part of each response."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self._outcomes: list[tuple[str, Any]] = []
        self._sent: dict[str, deque[tuple[str, Message, int]]] = {}
        self._members: dict[str, str] = {}

    def send(self, link: str, label: str, body: Message, version: int) -> None:
        """Send on a link and let the request arrive; `take` returns the response."""
        self._send(link, label, body, version)
        self.peer.wait(0.1)

    def _send(self, link: str, label: str, body: Message, version: int) -> None:
        self._sent.setdefault(link, deque()).append((label, body, version))
        self.peer.send(link, encode_request(body, version, correlation_id=7, client_id=link))

    def receive(self, link: str) -> Any:
        """Return the next response on a link, and record it."""
        label, body, version = self._sent[link].popleft()
        _, answer = decode_response(self.peer.receive(link), key_of(type(body)), version)
        name = f"{label}: {body.NAME.removesuffix('Request')} {version} of {link}"
        given = getattr(answer, "member_id", "")
        if given:
            self._members.setdefault(given, f"member {len(self._members) + 1}")
        self._outcomes.append((name, to_json(answer, version)))
        ids = [member.member_id for member in getattr(answer, "members", ()) or ()]
        if len(ids) > 1:
            self.note(f"{name}, members in the order of Java's map", ids == in_hash_order(ids, hash_of_text))
        return answer

    def ask_raw(self, link: str, body: Message, version: int) -> Any:
        """Send on a link, and return the response without recording it."""
        self._send(link, "", body, version)
        self._sent[link].pop()
        return decode_response(self.peer.receive(link), key_of(type(body)), version)[1]

    def wait_until(self, what: str, is_so: Callable[[], bool]) -> None:
        """Wait until `is_so` is true; AssertionError after a timeout."""
        for _ in range(20 * PATIENCE_SECONDS):
            if is_so():
                return
            self.peer.wait(0.05)
        raise AssertionError(f"{what}: not in {PATIENCE_SECONDS} s")

    def find_coordinator(self) -> None:
        """Wait until the coordinator of group "g" is available; the first search for it creates its topic."""
        self.wait_until("a coordinator of groups", lambda: self.peek_coordinator() == 0)

    def peek_coordinator(self) -> int:
        """Return the error of finding that coordinator, or of its description of the group; 14: it loads."""
        error = int(self.ask_raw("admin", FindCoordinatorRequest(key="g"), 0).error_code)
        if error:
            return error
        return int(self.ask_raw("admin", DescribeGroupsRequest(groups=["g"]), 5).groups[0].error_code)

    def offsets_log(self) -> bytes:
        """Return the batches of `__consumer_offsets`, which has one partition."""
        partition = FetchPartition(partition=0, partition_max_bytes=1 << 24)
        topic = FetchTopic(topic="__consumer_offsets", partitions=[partition])
        answer = self.ask_raw("reader", FetchRequest(max_bytes=1 << 24, topics=[topic], session_epoch=-1), 11)
        return bytes(answer.responses[0].partitions[0].records)

    def ask(self, link: str, label: str, body: Message, version: int) -> Any:
        """Send on a link, and return the response."""
        self._send(link, label, body, version)
        return self.receive(link)

    def waits(self, link: str, label: str) -> None:
        """Record whether the request on a link still has no response."""
        self._outcomes.append((f"{label}: {link} waits", not self.peer.has_answer(link)))

    def forget_last(self) -> None:
        """Drop the last result, which depends on the time of the request."""
        self._outcomes.pop()

    def know(self, value: str, name: str) -> None:
        """Give the random `value` a name."""
        self._members.setdefault(value, name)

    def note(self, label: str, value: object) -> None:
        """Record another value that must be equal."""
        self._outcomes.append((label, value))

    @property
    def outcomes(self) -> list[tuple[str, Any]]:
        """Return the comparable results of every step, in order: members are known by their order."""
        return [(label, self._comparable(value)) for label, value in self._outcomes]

    def _comparable(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._comparable(one, key) for key, one in value.items()}
        if isinstance(value, list):
            rows = [self._comparable(one, name) for one in value]
            return sorted(rows, key=_order) if rows and isinstance(rows[0], dict) else rows
        if name == "clientHost":
            return ADDRESS.sub("an address", value)
        if isinstance(value, str) and name not in OWN:
            return self._members.get(value, value)
        return OWN.get(name, value)


def _order(row: dict[str, Any]) -> str:
    return next((str(row[name]) for name in NAMES if name in row), "")
