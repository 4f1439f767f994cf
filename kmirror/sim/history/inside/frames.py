"""Frames on their way through the simulated network, each decoded once for those who judge what it says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from kmirror.kernel.clock import Instant
from kmirror.kernel.ids import TopicPartition
from kmirror.protocol.headers import decode_body, decode_response, peek_request
from kmirror.protocol.message import Message
from kmirror.sim.history.inside.rules import Rules
from kmirror.sim.history.scene import Scene
from kmirror.sim.network import Link, Passing
from kmirror.spec.api_keys import API_KEYS

NO_PARTITION = TopicPartition("", -1)
"""Of what concerns no partition, or more than one."""


@dataclass(slots=True, eq=False)
class Asked:
    """A request that has reached its broker."""

    cluster: str
    """Of the broker, which is `broker_id`."""
    broker_id: int
    link: Link
    key: int
    version: int
    body: Message
    at: Instant
    """When it came, in the world's time."""
    answer: Message | None = None
    """What was sent back, once it was sent."""


class FrameLook:
    """Judges requests of some APIs, and their answers; it changes nothing, and draws nothing."""

    APIS: ClassVar[tuple[str, ...]]
    """The names of the APIs."""

    def wants(self, link: Link) -> bool:
        """Return whether the requests on a link are looked at."""
        return True

    def asked(self, asked: Asked) -> None:
        """Look at a request that its broker is about to be given."""

    def answered(self, asked: Asked) -> None:
        """Look at an answer that is being sent, whether it arrives or not."""

    def received(self, asked: Asked) -> None:
        """Look at an answer that its client is about to be given."""


class Frames:
    """Follows requests until they are answered."""

    def __init__(
        self, scene: Scene, rules: Rules, nodes: dict[str, tuple[str, int]], looks: Iterable[FrameLook]
    ) -> None:
        self._rules = rules
        self._world = scene.simulation.world
        self._nodes = nodes
        self._by_key: dict[int, list[FrameLook]] = {}
        for look in looks:
            for api in look.APIS:
                self._by_key.setdefault(API_KEYS[api], []).append(look)
        self._wanted: dict[tuple[int, int], list[FrameLook]] = {}
        """By number of the link and API key who looks at such requests."""
        self._under_way: dict[int, dict[int, tuple[Asked, list[FrameLook]]]] = {}
        """By number of the link what has no answer yet, by correlation id."""

    def on_frame(self, passing: Passing, link: Link, frame: bytes) -> None:
        """Hand a frame to those who look at its API."""
        if passing is Passing.REQUEST:
            key = frame[0] << 8 | frame[1]
            if key in self._by_key:
                wanted = self._wanted.get((link.number, key))
                if wanted is None:
                    wanted = [look for look in self._by_key[key] if look.wants(link)]
                    self._wanted[link.number, key] = wanted
                if wanted:
                    self._on_request(link, frame, wanted)
            return
        under_way = self._under_way.get(link.number)
        if under_way is None:
            return
        number = int.from_bytes(frame[:4], "big")
        found = under_way.get(number)
        if found is None:
            return
        asked, looks = found
        if passing is Passing.SENT or passing is Passing.LOST:
            self._look_at_order(asked, under_way)
            asked.answer = decode_response(frame, asked.key, asked.version).body
            for look in looks:
                look.answered(asked)
        if passing is not Passing.SENT:
            del under_way[number]
            if passing is Passing.RECEIVED:
                for look in looks:
                    look.received(asked)

    def _look_at_order(self, asked: Asked, under_way: dict[int, tuple[Asked, list[FrameLook]]]) -> None:
        """Look whether what came before on the same link was answered: requests are answered in their order."""
        for other, _ in under_way.values():
            if other is asked:
                return
            if other.answer is None:
                text = (
                    f"{asked.body.NAME} of {asked.link.client} is answered before the {other.body.NAME} that came first"
                )
                self._rules.broken(asked.cluster, asked.broker_id, NO_PARTITION, "answer-order", text)

    def _on_request(self, link: Link, frame: bytes, looks: list[FrameLook]) -> None:
        place = self._nodes.get(link.server)
        if place is None:
            return
        head = peek_request(frame)
        body = decode_body(frame, head)
        asked = Asked(*place, link, head.api_key, head.api_version, body, self._world.now)
        for look in looks:
            look.asked(asked)
        self._under_way.setdefault(link.number, {})[head.correlation_id] = asked, looks
