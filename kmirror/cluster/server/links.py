"""The links on which requests come in, and what leaves on them.

A link has at most one request in work, as in Kafka: the next one is handled after the answer to the one before has
been written. So a client may pipeline and still match answers by order.

A link with too many waiting requests is not read any more until all of them have been handled: what a client sends
meanwhile stays in its own buffers, and costs memory there.
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
    ResumeReading,
    StopReading,
    Timed,
)
from kmirror.kernel.link_queue import LinkQueue
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.repeated_fetch import LastFetch
from kmirror.protocol.repeated_produce import LastProduce

OnAnswer = Callable[[Reply | CloseLink], None]
"""Sends an answer, or closes a link in place of one."""
Shortcut = Callable[[Instant, Chunk, memoryview], Chunk | None]
"""(now, frame of a request, records in it) -> frame of its answer; None, with nothing done, if its handler is to be
asked."""


@dataclass(slots=True)
class ServedLink:
    """One link, and what is kept of the requests that came in on it."""

    client: LinkOpened
    rights: Rights
    waiting: LinkQueue[tuple[Chunk, Instant]] = field(default_factory=LinkQueue)
    """Requests, each with the time at which it arrived."""
    busy: bool = False
    is_read: bool = True
    is_open: bool = True
    served: Mapping[int, tuple[int, int]] | None = None
    """The versions that were served when `last_fetch` came in."""
    last_fetch: LastFetch | None = None
    """The newest request, if it is a fetch that may come again."""
    last_produce: LastProduce | None = None
    """The newest request, if it is a produce that others may be like; its handler says so."""
    shortcut: Shortcut | None = None
    """Answers requests that are like `last_produce`, if its handler has a shorter way for them."""


class Links:
    """The open links of a node."""

    def __init__(self, outbox: Outbox, on_answer: OnAnswer) -> None:
        self.outbox = outbox
        self._on_answer = on_answer
        self.ready: deque[ServedLink] = deque()
        """Links with requests that may be handled now."""
        self.by_name: dict[InboundLink, ServedLink] = {}
        """Without those that this node has closed."""

    def open(self, client: LinkOpened, rights: Rights) -> None:
        """Take up a link that a client or another node has opened."""
        self.by_name[client.link] = ServedLink(client, rights)

    def make_ready(self) -> None:
        """Have the requests that wait on any link handled."""
        self.ready.extend(self.by_name.values())

    def hold(self, link: ServedLink) -> None:
        """Stop reading the link if too much waits on it."""
        if link.is_read and link.waiting.is_full:
            link.is_read = False
            self.outbox.add(StopReading(link.client.link))

    def take(self, link: ServedLink) -> tuple[Chunk, Instant]:
        """Return the request that has waited longest, and when it arrived; read the link again after the last one."""
        taken = link.waiting.take()
        if not link.is_read and not link.waiting.requests:
            link.is_read = True
            self.outbox.add(ResumeReading(link.client.link))
        return taken

    def answer(self, link: ServedLink, chunks: tuple[Chunk, ...], timed: Timed | None = None) -> None:
        """Answer the request in work with a whole frame, in chunks; every answer leaves here."""
        self._on_answer(Reply(link.client.link, chunks, timed))
        link.busy = False  # The same as `finish` does, without one more call.
        if link.waiting.requests:
            self.ready.append(link)

    def finish(self, link: ServedLink) -> None:
        """Mark the request in work as ended: the next one may be handled."""
        link.busy = False
        if link.waiting.requests:
            self.ready.append(link)

    def forget(self, name: InboundLink) -> None:
        """Forget a closed link and the requests that wait on it."""
        link = self.by_name.pop(name, None)
        if link is not None:
            link.is_open = False

    def close(self, link: ServedLink) -> None:
        """Close the link; requests that wait on it are not answered."""
        name = link.client.link
        self.forget(name)
        self._on_answer(CloseLink(name))
