"""Links of a session to a broker: each outstanding request has a link of its own.

The same session runs against a kmirror broker in the simulator, where time can be moved, and against any broker behind
a port.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Protocol

from kmirror.fuzz.connection import TIMEOUT_S, Connection, ConnectionClosed, ResponseTimeout
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.kernel.clock import SECOND, Instant
from kmirror.kernel.events import CloseLink, Effect, Event, LinkClosed, OutboundLink, ResponseReceived, Send
from kmirror.kernel.ids import Endpoint
from kmirror.sim.world import World as SimulatedWorld

_BRIEF_S = 0.005
_PEER = "session"


class Link(Protocol):
    """A broker as a session uses it. `send` returns a ticket for the request."""

    moves_time: bool
    """Whether `pause` takes no real time."""
    short_s: float
    """Seconds within which most responses arrive that do not wait for another request."""
    long_s: float
    """Seconds after which no response will arrive."""

    def send(self, frame: bytes, broker: str = "") -> int:
        """Send a request on a link without an outstanding one, and return its ticket; `at` names the broker."""
        ...

    def take(self, ticket: int, within_s: float) -> bytes | None:
        """Return the response, which ends the ticket; None if there is none in time.

        Raises `Fault` if the broker closed the link instead.
        """
        ...

    def cut(self, ticket: int) -> None:
        """Close the link of a request, whose response is not read."""
        ...

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        ...

    def wait_briefly(self) -> None:
        """Give the broker a moment to process the requests sent."""
        ...

    def close(self) -> None:
        """Close all links."""
        ...


def _closed_link_fault() -> Fault:
    return Fault(FaultKind.REFUSED, "the link was closed", "closed link", "an answer")


class PortLink:
    """Any broker behind a port, or several by name."""

    moves_time = False
    short_s = 0.02
    long_s = TIMEOUT_S

    def __init__(self, addresses: Mapping[str, tuple[str, int]]) -> None:
        self._addresses = addresses
        self._idle: dict[str, list[Connection]] = {name: [] for name in addresses}
        self._busy: dict[int, tuple[str, Connection]] = {}
        self._count = 0

    def send(self, frame: bytes, broker: str = "") -> int:
        """Send on a connection without an outstanding request, opened if necessary."""
        connection = self._idle[broker].pop() if self._idle[broker] else Connection(*self._addresses[broker])
        try:
            connection.send(frame)
        except (OSError, ConnectionClosed, ResponseTimeout) as error:
            raise Fault(
                FaultKind.DEAD, f"{connection.address}: {error!r}", "no connection", "a broker that listens"
            ) from None
        self._count += 1
        self._busy[self._count] = (broker, connection)
        return self._count

    def take(self, ticket: int, within_s: float) -> bytes | None:
        """Return the response if it arrives in time."""
        broker, connection = self._busy[ticket]
        if not connection.has_data(within_s):
            return None
        del self._busy[ticket]
        try:
            response = connection.receive(TIMEOUT_S)
        except (ConnectionClosed, ResponseTimeout):
            raise _closed_link_fault() from None
        self._idle[broker].append(connection)
        return response

    def cut(self, ticket: int) -> None:
        """Close the connection."""
        self._busy.pop(ticket)[1].close()

    def pause(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    def wait_briefly(self) -> None:
        """Sleep for a moment."""
        time.sleep(_BRIEF_S)

    def close(self) -> None:
        """Close all connections."""
        for connection in [connection for lines in self._idle.values() for connection in lines]:
            connection.close()
        for ticket in list(self._busy):
            self.cut(ticket)


class SimulatedLink:
    """A broker in the simulator, or several by name in the same world."""

    moves_time = True
    short_s = 0.3
    long_s = 120.0

    def __init__(self, world: SimulatedWorld, endpoints: Mapping[str, Endpoint]) -> None:
        self._endpoints = endpoints
        self._world = world
        self._idle: dict[str, list[OutboundLink]] = {name: [] for name in endpoints}
        self._busy: dict[int, tuple[str, OutboundLink]] = {}
        self._responses: dict[OutboundLink, bytes | None] = {}
        self._count = 0
        world.add(_PEER, _PEER, lambda: self)
        world.start(_PEER)

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Record a response; None for a link that was closed."""
        match event:
            case ResponseReceived(link, frame):
                self._responses[link] = bytes(frame)
            case LinkClosed(OutboundLink() as link):
                self._responses[link] = None
            case _:
                pass
        return []

    def send(self, frame: bytes, broker: str = "") -> int:
        """Send on a link without an outstanding request."""
        self._count += 1
        link = (
            self._idle[broker].pop() if self._idle[broker] else OutboundLink(self._endpoints[broker], f"{self._count}")
        )
        self._busy[self._count] = (broker, link)
        self._world.perform(_PEER, [Send(link, (frame,))])
        return self._count

    def take(self, ticket: int, within_s: float) -> bytes | None:
        """Return the response; virtual time passes until it arrives."""
        broker, link = self._busy[ticket]
        deadline = self._world.now + round(within_s * SECOND)
        while link not in self._responses and self._world.now < deadline:
            self._world.step()
        if link not in self._responses:
            return None
        del self._busy[ticket]
        response = self._responses.pop(link)
        if response is None:
            raise _closed_link_fault()
        self._idle[broker].append(link)
        return response

    def cut(self, ticket: int) -> None:
        """Close the link."""
        _, link = self._busy.pop(ticket)
        self._responses.pop(link, None)
        self._world.perform(_PEER, [CloseLink(link)])

    def pause(self, seconds: float) -> None:
        """Let virtual time pass."""
        self._world.run_for(span_us=round(seconds * SECOND))

    def wait_briefly(self) -> None:
        """Let a moment of virtual time pass."""
        self.pause(_BRIEF_S)

    def close(self) -> None:
        """Do nothing: there are no resources."""
