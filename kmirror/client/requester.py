"""Requests under way: one table by correlation id, nothing awaited.

Every request ends in exactly one call of its `on_reply`: with the answer, or with None when the
link closed, the time ran out, or the answer could not be read. An `on_reply` that fails on an answer is told None
as well, in a node that goes on after a failure. A node that restarts has an empty
table; whatever waited must be derivable again from what is persisted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmirror.errors import ProtocolError
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import Chunk, CloseLink, OutboundLink, Send
from kmirror.kernel.failures import Failures
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.headers import decode_response, encode_request_chunks
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of

OnReply = Callable[[Instant, Message | None], None]
TIMER = "request-timeout"


@dataclass(frozen=True, slots=True)
class Pending:
    link: OutboundLink
    api_key: int
    version: int
    on_reply: OnReply


class Requester:
    """The client half of a node."""

    def __init__(self, client_id: str, outbox: Outbox, failures: Failures | None = None) -> None:
        self._client_id = client_id
        self._pending: dict[int, Pending] = {}
        self._next_correlation_id = 0
        self._failures = failures or Failures(outbox)
        self.outbox = outbox

    def send(
        self,
        now: Instant,
        peer: Endpoint,
        channel: str,
        body: Message,
        version: int,
        on_reply: OnReply,
        *,
        timeout_ms: int,
        client_id: str | None = None,
    ) -> None:
        """Send `body` and call `on_reply` once, later; the answer may come after a restart of the peer."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        client_id = client_id or self._client_id
        chunks = encode_request_chunks(body, version, correlation_id=correlation_id, client_id=client_id)
        link = OutboundLink(peer, channel)
        self._pending[correlation_id] = Pending(link, key_of(type(body)), version, on_reply)
        self.outbox.add(Send(link, tuple(chunks)))
        self.outbox.set_timer((TIMER, correlation_id), now + timeout_ms * MILLISECOND)

    def on_response(self, now: Instant, link: OutboundLink, frame: Chunk) -> None:
        """Match an answer to its request; an answer that nobody waits for is dropped."""
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        pending = self._pending.get(correlation_id)
        if pending is None or pending.link != link:
            self.outbox.note(f"dropped an answer from {link.peer}: nobody waits for {correlation_id}")
            return
        del self._pending[correlation_id]
        self.outbox.cancel_timer((TIMER, correlation_id))
        try:
            body = decode_response(frame, pending.api_key, pending.version).body
        except ProtocolError as error:
            self.outbox.note(f"unreadable answer from {link.peer}: {error}")
            self.outbox.add(CloseLink(link))
            self.on_link_closed(now, link)
            pending.on_reply(now, None)
            return
        try:
            pending.on_reply(now, body)
        except Exception as error:
            self._failures.caught(f"{body.NAME} from {link.peer}", error)
            pending.on_reply(now, None)

    def on_link_closed(self, now: Instant, link: OutboundLink) -> None:
        """Fail everything that was under way on the link."""
        lost = [key for key, p in self._pending.items() if p.link == link]
        for correlation_id in lost:
            pending = self._pending.pop(correlation_id, None)
            if pending is None:
                continue  # A callback closed the link on purpose.
            self.outbox.cancel_timer((TIMER, correlation_id))
            pending.on_reply(now, None)

    def on_timeout(self, now: Instant, correlation_id: int) -> None:
        """Give the link up: on an ordered link nothing behind a lost answer is worth waiting for."""
        pending = self._pending.pop(correlation_id, None)
        if pending is None:
            return
        self.outbox.add(CloseLink(pending.link))
        self.on_link_closed(now, pending.link)
        pending.on_reply(now, None)

    def close(self, peer: Endpoint, channel: str) -> None:
        """Close a link on purpose; what was under way on it is forgotten without a call."""
        link = OutboundLink(peer, channel)
        gone = [key for key, p in self._pending.items() if p.link == link]
        for correlation_id in gone:
            del self._pending[correlation_id]
            self.outbox.cancel_timer((TIMER, correlation_id))
        self.outbox.add(CloseLink(link))
