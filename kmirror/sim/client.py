"""A client inside the simulation: scripts speak to brokers through it, in encoded frames.

`call` runs the world until the answer is there, so a script reads from top to bottom although
everything between question and answer happens in virtual time.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.client import requester
from kmirror.client.requester import Requester
from kmirror.kernel.clock import SECOND, Duration, Instant
from kmirror.kernel.events import Effect, Event, LinkClosed, OutboundLink, ResponseReceived, TimerFired
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.message import Message
from kmirror.sim.world import World


class ClientNode:
    """The node of a client: nothing but a table of requests under way."""

    def __init__(self, client_id: str) -> None:
        self.outbox = Outbox()
        self.requester = Requester(client_id, self.outbox)

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        match event:
            case ResponseReceived(link, frame):
                self.requester.on_response(now, link, frame)
            case LinkClosed(OutboundLink() as link):
                self.requester.on_link_closed(now, link)
            case TimerFired((requester.TIMER, int(correlation_id))):
                self.requester.on_timeout(now, correlation_id)
            case _:
                pass
        return self.outbox.drain()


class Client:
    """One client process at a site of the world."""

    def __init__(self, world: World, name: str, site: str) -> None:
        self._world = world
        self.name = name
        self._node = ClientNode(name)
        world.add(name, site, None, lambda: self._node)
        world.start(name)

    def send(
        self,
        endpoint: Endpoint,
        body: Message,
        version: int,
        on_reply: Callable[[Message | None], None],
        *,
        timeout_ms: int = 30_000,
    ) -> None:
        """Send and go on; `on_reply` gets the answer, or None if there will be none."""
        self._node.requester.send(
            self._world.now,
            endpoint,
            "client",
            body,
            version,
            lambda _now, reply: on_reply(reply),
            timeout_ms=timeout_ms,
        )
        self._world.perform(self.name, self._node.outbox.drain())

    def call(self, endpoint: Endpoint, body: Message, version: int, *, timeout_ms: int = 30_000) -> Message | None:
        """Send, run the world until the answer is there, and return it; None if there will be none."""
        box: list[Message | None] = []
        self.send(endpoint, body, version, box.append, timeout_ms=timeout_ms)
        within_us = (timeout_ms + 1000) * 1000
        self._world.run_until(lambda: bool(box), within_us=within_us, what=f"an answer to {body.NAME} from {endpoint}")
        return box[0]

    def call_any(
        self,
        endpoints: Callable[[], list[Endpoint]],
        body: Message,
        version: int,
        *,
        accept: Callable[[Message], bool],
        within_us: Duration = 60 * SECOND,
        pause_us: Duration = SECOND // 5,
    ) -> Message:
        """Ask one broker after the other until `accept` likes an answer; returns it."""
        deadline = self._world.now + within_us
        turn = 0
        last: Message | None = None
        while self._world.now < deadline:
            choices = endpoints()
            if choices:
                last = self.call(choices[turn % len(choices)], body, version)
                if last is not None and accept(last):
                    return last
            turn += 1
            self._world.run_for(pause_us)
        raise self._world.failure(f"no acceptable answer to {body.NAME}; the last one was {last!r}")
