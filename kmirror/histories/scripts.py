"""Scripts of clients in virtual time: generators that yield each request or pause.

    reply = yield Ask("a", endpoint, request, timeout_ms=2000)     the response, or None if there is none
    yield Tell("a", endpoint, request)                             for a request without a response
    yield Sleep(200)
    yield Wait(begin)                                              the value that `begin` passes to its callback

A script never runs the world: while it waits, all others continue. Each (actor, cluster) is a client process at the
cluster's site, so a line that is down between sites does not separate a cluster from its clients.
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
    """Send a request and resume with its response."""

    cluster: str
    endpoint: Endpoint
    body: Message
    version_max: int | None = None
    """Last version of the API in which `body` is valid; default: the newest one served."""
    timeout_ms: int = 2_500


@dataclass(frozen=True, slots=True)
class Tell:
    """Send a request that has no response, and continue."""

    cluster: str
    endpoint: Endpoint
    body: Message
    version_max: int | None = None
    """As in Ask."""


@dataclass(frozen=True, slots=True)
class Sleep:
    ms: int


R = TypeVar("R")
Script = Generator[Ask | Tell | Sleep | Wait[Any], Any, R]


class Scripts:
    """Runs scripts, each until it returns."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._clients: dict[tuple[str, str], Client] = {}

    def start(self, actor: str, script: Script[Any]) -> None:
        """Start `script` for `actor` now."""
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
