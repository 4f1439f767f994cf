"""Links on which requests arrive, and the responses on them.

A link has at most one request in progress, as in Kafka: the next one is handled after the response to the previous one.
So a client may pipeline requests and still match responses by order.

A link with too many waiting requests is not read until all of them have been handled: later requests stay in the
client's own buffers and use its memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kmirror.cluster.authorizer import Rights
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import (
    Chunk,
    CloseLink,
    InboundLink,
    LinkOpened,
    Reply,
    RequestTiming,
    ResumeReading,
    StopReading,
)
from kmirror.kernel.link_queue import LinkQueue
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.repeated_fetch import LastFetch
from kmirror.protocol.repeated_produce import LastProduce

OnResponse = Callable[[Reply | CloseLink], None]
"""Sends a response, or closes a link instead."""
Shortcut = Callable[[Instant, Chunk, memoryview], Chunk | None]
"""(now, frame of a request, records in it) -> frame of its response; None, with nothing done, if the handler must be
called."""


@dataclass(slots=True)
class ServedLink:
    """One link, and cached data about its requests."""

    client: LinkOpened
    rights: Rights
    waiting: LinkQueue[tuple[Chunk, Instant]] = field(default_factory=LinkQueue)
    """Waiting requests, each with its arrival time."""
    busy: bool = False
    is_reading: bool = True
    is_open: bool = True
    served: Mapping[int, tuple[int, int]] | None = None
    """Versions that were served when `last_fetch` arrived."""
    last_fetch: LastFetch | None = None
    """The newest request, if it is a fetch that may be repeated."""
    last_produce: LastProduce | None = None
    """The newest request, if it is a produce that others may resemble; set by its handler."""
    shortcut: Shortcut | None = None
    """Answers requests that resemble `last_produce`, if its handler has a faster path for them."""


class Links:
    """The open links of a node."""

    def __init__(self, outbox: Outbox, on_response: OnResponse) -> None:
        self.outbox = outbox
        self._on_response = on_response
        self.ready: deque[ServedLink] = deque()
        """Links whose next request may be handled now."""
        self.by_name: dict[InboundLink, ServedLink] = {}
        """Open links, without those that this node has closed."""

    def open(self, client: LinkOpened, rights: Rights) -> None:
        """Register a link that a client or another node has opened."""
        self.by_name[client.link] = ServedLink(client, rights)

    def make_ready(self) -> None:
        """Make the waiting requests of all links ready."""
        self.ready.extend(self.by_name.values())

    def pause_if_full(self, link: ServedLink) -> None:
        """Stop reading the link if its queue is full."""
        if link.is_reading and link.waiting.is_full:
            link.is_reading = False
            self.outbox.add(StopReading(link.client.link))

    def take(self, link: ServedLink) -> tuple[Chunk, Instant]:
        """Return the oldest waiting request and its arrival time; resume reading the link after the last one."""
        oldest = link.waiting.take()
        if not link.is_reading and not link.waiting.requests:
            link.is_reading = True
            self.outbox.add(ResumeReading(link.client.link))
        return oldest

    def respond(self, link: ServedLink, chunks: tuple[Chunk, ...], timing: RequestTiming | None = None) -> None:
        """Send the response to the request in progress as a whole frame, in chunks; every response is sent here."""
        self._on_response(Reply(link.client.link, chunks, timing))
        link.busy = False  # Same as `finish`, without the call.
        if link.waiting.requests:
            self.ready.append(link)

    def finish(self, link: ServedLink) -> None:
        """End the request in progress: the next one may be handled."""
        link.busy = False
        if link.waiting.requests:
            self.ready.append(link)

    def remove(self, name: InboundLink) -> None:
        """Forget a closed link and its waiting requests."""
        link = self.by_name.pop(name, None)
        if link is not None:
            link.is_open = False

    def close(self, link: ServedLink) -> None:
        """Close the link; its waiting requests are not answered."""
        name = link.client.link
        self.remove(name)
        self._on_response(CloseLink(name))
