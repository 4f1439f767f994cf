"""Requests and responses in the simulated network, each decoded once for all monitors that judge it."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from kmirror.cluster.images import MetadataImage
from kmirror.histories.monitors.rules import NO_PARTITION, Rules
from kmirror.histories.scene import Scene
from kmirror.kernel.clock import Instant
from kmirror.kernel.empty_table import EMPTY
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.headers import decode_request_body, decode_response, try_peek_request
from kmirror.protocol.message import Message
from kmirror.sim.network import Link, Passing
from kmirror.spec.api_keys import API_KEYS

PRODUCE = API_KEYS["Produce"]


@dataclass(slots=True, eq=False)
class PendingRequest:
    """A request that a node has received, and its response once that is sent."""

    cluster: str
    node_id: int
    """Broker or controller that received it."""
    link: Link
    key: int
    version: int
    body: Message
    at: Instant
    """World time at which the node received it."""
    answer: Message | None = None


class FrameMonitor:
    """Judges requests of some APIs, and their responses, without any effect on the run."""

    APIS: ClassVar[tuple[str, ...]]
    """Names of the APIs."""

    def judges(self, link: Link) -> bool:
        """Return whether the requests on a link are checked."""
        return True

    def on_request(self, pending: PendingRequest) -> None:
        """Check a request before its node handles it."""

    def on_response_sent(self, pending: PendingRequest) -> None:
        """Check a response when its node sends it; it may be lost."""

    def on_response_received(self, pending: PendingRequest) -> None:
        """Check a response before its client handles it."""


class Frames:
    """Matches responses to requests, and passes both to the monitors that judge them."""

    def __init__(
        self, scene: Scene, rules: Rules, nodes: Mapping[str, tuple[str, int]], monitors: Iterable[FrameMonitor]
    ) -> None:
        self._rules = rules
        self._world = scene.simulation.world
        self._nodes = nodes
        self._monitors_by_key: dict[int, list[FrameMonitor]] = {}
        for monitor in monitors:
            for api in monitor.APIS:
                self._monitors_by_key.setdefault(API_KEYS[api], []).append(monitor)
        self._monitors_by_link: dict[tuple[int, int], list[FrameMonitor]] = {}
        """Monitors that want requests of an API, by (link number, API key)."""
        self._pending: dict[int, dict[bytes, tuple[PendingRequest, list[FrameMonitor]]]] = {}
        """Requests without a response, by link number and correlation id."""
        self._unanswered: dict[int, deque[tuple[bytes, int]]] = {}
        """(correlation id, API key) of all requests without a response, oldest first, by link number."""

    def on_frame(self, passing: Passing, link: Link, frame: bytes) -> None:
        """Pass a frame to the monitors that judge requests of its API."""
        if passing is Passing.REQUEST:
            key = frame[0] << 8 | frame[1]
            waiting = self._unanswered.get(link.number)
            if waiting is None:
                waiting = self._unanswered[link.number] = deque()
            waiting.append((frame[4:8], key))
            if key in self._monitors_by_key:
                monitors = self._monitors_by_link.get((link.number, key))
                if monitors is None:
                    monitors = [monitor for monitor in self._monitors_by_key[key] if monitor.judges(link)]
                    self._monitors_by_link[link.number, key] = monitors
                if monitors:
                    self._on_request(link, frame, monitors)
            return
        correlation_id = frame[:4]
        pending_by_id = self._pending.get(link.number, EMPTY)
        is_sent = passing is Passing.SENT or passing is Passing.LOST
        if is_sent:
            waiting = self._unanswered.get(link.number)
            if waiting and waiting[0][0] == correlation_id:
                waiting.popleft()
            elif waiting:
                self._check_order(link, correlation_id, waiting, pending_by_id)
        found = pending_by_id.get(correlation_id)
        if found is None:
            return
        pending, monitors = found
        if is_sent:
            pending.answer = decode_response(frame, pending.key, pending.version).body
            for monitor in monitors:
                monitor.on_response_sent(pending)
        if passing is not Passing.SENT:
            del self._pending[link.number][correlation_id]
            if passing is Passing.RECEIVED:
                for monitor in monitors:
                    monitor.on_response_received(pending)

    def _check_order(
        self, link: Link, correlation_id: bytes, waiting: deque[tuple[bytes, int]], pending_by_id: Container[bytes]
    ) -> None:
        """Check why a response is not that to the oldest request of its link.

        A Produce with acks=0 has no response. The acks of a request that no monitor judges are not known.
        """
        if not any(correlation_id == other for other, _ in waiting):
            return  # The request was sent before the monitors began.
        while waiting[0][0] != correlation_id and waiting[0][1] == PRODUCE and waiting[0][0] not in pending_by_id:
            waiting.popleft()
        first, key = waiting[0]
        if first != correlation_id and link.server in self._nodes:
            text = f"a response to {link.client} precedes that to an earlier request of API {key}"
            self._rules.report(*self._nodes[link.server], NO_PARTITION, "answer-order", text)
        while waiting.popleft()[0] != correlation_id:
            pass

    def _on_request(self, link: Link, frame: bytes, monitors: list[FrameMonitor]) -> None:
        place, header = self._nodes.get(link.server), try_peek_request(frame)
        if place is None or header is None:
            return
        body = decode_request_body(frame, header)
        pending = PendingRequest(*place, link, header.api_key, header.api_version, body, self._world.now)
        for monitor in monitors:
            monitor.on_request(pending)
        self._pending.setdefault(link.number, {})[frame[4:8]] = pending, monitors


def topic_name(name: str, topic_id: Uuid) -> str:
    """Return a message's name for a topic, or its id as text where it has no name."""
    return name or str(topic_id)


def topic_by_id(image: MetadataImage, topic_id: str) -> str | None:
    """Return the name of the topic with this id, as text; None if there is none."""
    return next((topic.name for topic in image.topics.values() if str(topic.topic_id) == topic_id), None)
