"""A client as a node: a table of requests under way, and the machines that send them."""

from __future__ import annotations

from collections.abc import Callable

from kmirror.client import requester
from kmirror.client.requester import Requester
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import Effect, Event, LinkClosed, OutboundLink, ResponseReceived, TimerFired, TimerKey
from kmirror.kernel.outbox import Outbox

OnTimer = Callable[[Instant, TimerKey], None]


class ClientNode:
    """The node of a client; its machines (`Producer`, `Consumer`, `Admin`) send through `requester`."""

    def __init__(self, client_id: str) -> None:
        self.outbox = Outbox()
        self.requester = Requester(client_id, self.outbox)
        self.timers: dict[str, OnTimer] = {}
        """First element of the keys of timers to their machine."""

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        match event:
            case ResponseReceived(link, frame):
                self.requester.on_response(now, link, frame)
            case LinkClosed(OutboundLink() as link, reason):
                self.requester.on_link_closed(now, link, reason)
            case TimerFired((requester.TIMER, int(correlation_id))):
                self.requester.on_timeout(now, correlation_id)
            case TimerFired(key):
                self.timers[str(key[0])](now, key)
            case _:
                pass
        return self.outbox.drain()
