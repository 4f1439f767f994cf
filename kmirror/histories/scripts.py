"""How does a client do one thing after the other in virtual time? As a generator that says what it waits for.

    reply = yield Ask("a", endpoint, request, timeout_ms=2000)     the answer, or None if there is none
    yield Tell("a", endpoint, request)                             nothing: there will be no answer
    yield Sleep(200)
    yield Wait(begin)                                              what `begin` hands over to the function it is given

A script never runs the world: while it waits all others go on. Each (actor, cluster) is a client process of its own at
the cluster's site, so that a line that is down between sites parts a cluster from the others and not from its clients.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from kmirror.kernel.clock import MILLISECOND
from kmirror.kernel.ids import Endpoint
from kmirror.protocol.message import Message
from kmirror.sim.client import Client
from kmirror.sim.pending import Wait
from kmirror.sim.world import World


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a request, go on with its answer."""

    cluster: str
    endpoint: Endpoint
    body: Message
    version_max: int | None = None
    """The last version in which `body` says what is meant; else the newest one that is served."""
    timeout_ms: int = 2_500


@dataclass(frozen=True, slots=True)
class Tell:
    """Send what has no answer, and go on."""

    cluster: str
    endpoint: Endpoint
    body: Message
    version_max: int | None = None
    """As of Ask."""


@dataclass(frozen=True, slots=True)
class Sleep:
    ms: int


R = TypeVar("R")
Script = Generator[Ask | Tell | Sleep | Wait[Any], Any, R]


class Scripts:
    """Runs scripts, each until it has nothing more to say."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._clients: dict[tuple[str, str], Client] = {}

    def start(self, actor: str, script: Script[Any]) -> None:
        """Begin `script` for `actor`, now."""
        self._go(actor, script, None)

    def client(self, actor: str, cluster: str) -> Client:
        """Return the process of `actor` at the site of `cluster`."""
        found = self._clients.get((actor, cluster))
        if found is None:
            found = self._clients[actor, cluster] = Client(self._world, f"{actor}@{cluster}", cluster)
        return found

    def _go(self, actor: str, script: Script[Any], reply: Any) -> None:
        try:
            wish = script.send(reply)
        except StopIteration:
            return
        if isinstance(wish, Sleep):
            self._world.at(self._world.now + wish.ms * MILLISECOND, lambda: self._go(actor, script, None))
            return
        if isinstance(wish, Tell):
            self.client(actor, wish.cluster).tell(wish.endpoint, wish.body, version_max=wish.version_max)
            self._world.at(self._world.now, lambda: self._go(actor, script, None))
            return
        if isinstance(wish, Wait):
            wish.begin(lambda reply: self._go(actor, script, reply))
            return
        self.client(actor, wish.cluster).send(
            wish.endpoint,
            wish.body,
            lambda reply: self._go(actor, script, reply),
            version_max=wish.version_max,
            timeout_ms=wish.timeout_ms,
        )
