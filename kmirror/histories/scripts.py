"""Scripts of clients in virtual time: generators that yield each request or pause.

    reply = yield Request("a", endpoint, body, timeout_ms=2000)    the response, or None if there is none
    yield OneWayRequest("a", endpoint, body)                       for a request without a response
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
class Request:
    """Action of a script: send a request, and resume the script with the response."""

    cluster: str
    endpoint: Endpoint
    body: Message
    version_max: int | None = None
    """Last version of the API in which `body` is valid; default: the newest one served."""
    timeout_ms: int = 2_500


@dataclass(frozen=True, slots=True)
class OneWayRequest:
    """Action of a script: send a request that has no response, and continue."""

    cluster: str
    endpoint: Endpoint
    body: Message
    version_max: int | None = None
    """As in Request."""


@dataclass(frozen=True, slots=True)
class Sleep:
    ms: int


R = TypeVar("R")
Script = Generator[Request | OneWayRequest | Sleep | Wait[Any], Any, R]


class Scripts:
    """Runs scripts, each until it returns."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._clients: dict[tuple[str, str], Client] = {}

    def start(self, actor: str, script: Script[Any]) -> None:
        """Start `script` for `actor` now."""
        self._resume(actor, script, None)

    def client(self, actor: str, cluster: str) -> Client:
        """Return the process of `actor` at the site of `cluster`."""
        found = self._clients.get((actor, cluster))
        if found is None:
            found = self._clients[actor, cluster] = Client(self._world, f"{actor}@{cluster}", cluster)
        return found

    def _resume(self, actor: str, script: Script[Any], reply: Any) -> None:
        try:
            action = script.send(reply)
        except StopIteration:
            return
        if isinstance(action, Sleep):
            self._world.at(self._world.now + action.ms * MILLISECOND, lambda: self._resume(actor, script, None))
            return
        if isinstance(action, OneWayRequest):
            self.client(actor, action.cluster).tell(action.endpoint, action.body, version_max=action.version_max)
            self._world.at(self._world.now, lambda: self._resume(actor, script, None))
            return
        if isinstance(action, Wait):
            action.begin(lambda reply: self._resume(actor, script, reply))
            return
        self.client(actor, action.cluster).send(
            action.endpoint,
            action.body,
            lambda reply: self._resume(actor, script, reply),
            version_max=action.version_max,
            timeout_ms=action.timeout_ms,
        )
