"""Requests under way: one table by correlation id, no futures.

Every request ends in exactly one call of its `on_reply`: with the response, or with None when the link closed, the time
ran out, or the response could not be parsed. In a node that continues after an exception, an `on_reply` that raises on
a response is called again with None. A node that restarts has an empty table; the purpose of a request must be
derivable again from persisted state.
"""

from __future__ import annotations

from collections.abc import Callable

from kmirror.client.authentication import Authenticator, SecuredLink
from kmirror.client.client_counts import ClientCounts
from kmirror.errors import ProtocolError
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import CancelTimer, Chunk, CloseLink, CountLink, OpenLink, OutboundLink, Send, SetTimer
from kmirror.kernel.failures import Failures
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.values import value
from kmirror.protocol.headers import decode_response_body, encode_request_chunks
from kmirror.protocol.message import Message
from kmirror.protocol.repeated_fetch import RepeatedFetch

OnReply = Callable[[Instant, Message | None], None]
OnFrame = Callable[[Instant, Chunk], bool]
"""(now, the frame of a response); returns True if it needs no parsing."""
TIMER = "request-timeout"
TIMED_OUT = "the request timed out"


@value
class Pending:
    """A request that was sent and is not answered yet."""

    link: OutboundLink
    api_key: int
    version: int
    on_reply: OnReply
    on_frame: OnFrame | None
    is_counted: bool = True
    """False for requests that only secure the link."""


@value
class Sent:
    """The parameters of a fetch that was sent, to send it again in the same way."""

    requester: Requester
    pending: Pending
    client_id: str
    timeout_us: Duration

    def resend(self, now: Instant, fetch: RepeatedFetch) -> None:
        """Send the fetch again, with a new session epoch at most; the same callbacks are called."""
        requester, pending = self.requester, self.pending
        correlation_id = requester.next_correlation_id()
        frame = fetch.frame(pending.version, correlation_id=correlation_id, client_id=self.client_id)
        requester.send_encoded(now, correlation_id, pending, (frame,), self.timeout_us)


class Requester:
    """The client half of a node: sends requests and matches responses to them."""

    def __init__(self, client_id: str, outbox: Outbox, failures: Failures | None = None) -> None:
        self._client_id = client_id
        self._pending: dict[int, Pending] = {}
        self._next_correlation_id = 0
        self._failures = failures or Failures(outbox)
        self._secured: dict[OutboundLink, SecuredLink] = {}
        self._counts: dict[OutboundLink, ClientCounts] = {}
        self.outbox = outbox
        self.closed_links: dict[Endpoint, int] = {}
        """Number of ended links to a peer: it may be another release when it is back."""
        self.close_reasons: dict[Endpoint, str] = {}
        """Peer to the reason why the last link to it was lost, if it has not responded since."""

    # -- secured links ------------------------------------------------------------------------

    def secure(self, link: OutboundLink, authenticator: Authenticator) -> None:
        """Secure a link before all requests on it, from now until `close_link`."""
        known = self._secured.get(link)
        if known is None or known.authenticator is not authenticator:
            self._secured[link] = SecuredLink(
                link,
                authenticator,
                self._send_ahead,
                self._transmit,
                self._open_tls,
                self._close_link,
                self.counts(link),
            )

    def _send_ahead(
        self, now: Instant, link: OutboundLink, body: Message, version: int, on_reply: OnReply, timeout_ms: int
    ) -> None:
        """Send a request that secures a link, ahead of those that wait for that."""
        assert body.API_KEY is not None, "the body is a request"
        correlation_id = self.next_correlation_id()
        chunks = tuple(encode_request_chunks(body, version, correlation_id=correlation_id, client_id=self._client_id))
        self._pending[correlation_id] = Pending(link, body.API_KEY, version, on_reply, None, is_counted=False)
        self._transmit(link, chunks)
        self.outbox.add(SetTimer((TIMER, correlation_id), now + timeout_ms * MILLISECOND))

    def _transmit(self, link: OutboundLink, chunks: tuple[Chunk, ...]) -> None:
        self.outbox.add(Send(link, chunks))

    def _open_tls(self, link: OutboundLink, authenticator: Authenticator) -> None:
        assert authenticator.security.tls is not None, "the link uses TLS"
        self.outbox.add(OpenLink(link, authenticator.security.tls))

    def _close_link(self, now: Instant, link: OutboundLink) -> None:
        self.outbox.add(CloseLink(link))
        self.on_link_closed(now, link)

    # -- counts -------------------------------------------------------------------------------

    def count(self, link: OutboundLink) -> None:
        """Count the traffic of a link, until `close_link` or `close`; must be called before its first use."""
        if link not in self._counts:
            self._counts[link] = ClientCounts()
            self.outbox.add(CountLink(link))

    def counts(self, link: OutboundLink) -> ClientCounts | None:
        """Return the counts of a link; None if it is not counted."""
        return self._counts.get(link)

    # -- requests -----------------------------------------------------------------------------

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
        on_frame: OnFrame | None = None,
    ) -> Sent:
        """Send `body`, and later call `on_reply` with the response or None; LocalProtocolError if it does not encode.

        `on_frame` is called before a response is parsed; if it returns True, the response needs no more work. The
        result can send a fetch again.
        """
        correlation_id = self.next_correlation_id()
        client_id = client_id or self._client_id
        chunks = tuple(encode_request_chunks(body, version, correlation_id=correlation_id, client_id=client_id))
        assert body.API_KEY is not None, "it was encoded as a request"
        pending = Pending(OutboundLink(peer, channel), body.API_KEY, version, on_reply, on_frame)
        timeout_us = timeout_ms * MILLISECOND
        self.send_encoded(now, correlation_id, pending, chunks, timeout_us)
        return Sent(self, pending, client_id, timeout_us)

    def next_correlation_id(self) -> int:
        """Return the correlation id of the next request."""
        correlation_id = self._next_correlation_id
        self._next_correlation_id = (correlation_id + 1) & 0x7FFFFFFF
        return correlation_id

    def send_encoded(
        self, now: Instant, correlation_id: int, pending: Pending, chunks: tuple[Chunk, ...], timeout_us: Duration
    ) -> None:
        """Send an encoded request, and wait for its response."""
        self._pending[correlation_id] = pending
        if self._counts and (counts := self._counts.get(pending.link)) is not None:
            counts.record_request(now, sum(map(len, chunks)))
        add = self.outbox.add
        if self._secured and (secured := self._secured.get(pending.link)) is not None:
            add(SetTimer((TIMER, correlation_id), secured.send_encoded(now, chunks, timeout_us)))
            return
        add(Send(pending.link, chunks))
        add(SetTimer((TIMER, correlation_id), now + timeout_us))

    def on_response(self, now: Instant, link: OutboundLink, frame: Chunk) -> None:
        """Match a response to its request; a response without a request is dropped."""
        correlation_id = int.from_bytes(frame[:4], "big", signed=True)
        pending = self._pending.get(correlation_id)
        if pending is None or pending.link != link:
            self.outbox.note(f"dropped a response from {link.peer}: no request with correlation id {correlation_id}")
            return
        del self._pending[correlation_id]
        if self.close_reasons:
            self.close_reasons.pop(link.peer, None)
        self.outbox.add(CancelTimer((TIMER, correlation_id)))
        if self._counts and pending.is_counted and (counts := self._counts.get(link)) is not None:
            counts.record_response(now, len(frame))
        if self._secured and (secured := self._secured.get(link)) is not None:
            secured.on_response()
        if pending.on_frame is not None:
            try:
                if pending.on_frame(now, frame):
                    return
            except Exception as error:  # The response is parsed, as if there were no `on_frame`.
                self._failures.report(f"the frame of a response from {link.peer}", error)
        try:
            body = decode_response_body(frame, pending.api_key, pending.version)
        except ProtocolError as error:
            self.outbox.note(f"invalid response from {link.peer}: {error}")
            self.outbox.add(CloseLink(link))
            self.on_link_closed(now, link)
            self._end(now, pending)
            return
        try:
            pending.on_reply(now, body)
        except Exception as error:
            self._failures.report(f"{body.NAME} from {link.peer}", error)
            self._end(now, pending)

    def on_link_closed(self, now: Instant, link: OutboundLink, reason: str = "") -> None:
        """End every request that was under way on the link, with None; `reason` is empty if it is not known."""
        self.closed_links[link.peer] = self.closed_links.get(link.peer, 0) + 1
        if reason and reason != TIMED_OUT:
            self.close_reasons[link.peer] = reason
        if self._secured and (secured := self._secured.get(link)) is not None:
            secured.on_closed(now, reason)
        correlation_ids = [key for key, p in self._pending.items() if p.link == link]
        for correlation_id in correlation_ids:
            pending = self._pending.pop(correlation_id, None)
            if pending is None:
                continue  # A callback closed the link on purpose.
            self.outbox.cancel_timer((TIMER, correlation_id))
            self._end(now, pending)

    def on_timeout(self, now: Instant, correlation_id: int) -> None:
        """Close the link of a request that timed out: responses come in order, so no later one can come either."""
        pending = self._pending.pop(correlation_id, None)
        if pending is None:
            return
        self.outbox.add(CloseLink(pending.link))
        self.on_link_closed(now, pending.link, TIMED_OUT)
        self._end(now, pending)

    def _end(self, now: Instant, pending: Pending) -> None:
        """End a request without a response; an exception must not keep other requests from ending."""
        try:
            pending.on_reply(now, None)
        except Exception as error:
            self._failures.report(f"a request without a response to {pending.link.peer}", error)

    def close_link(self, now: Instant, link: OutboundLink) -> None:
        """Close a link on purpose, and for good; every request that was under way on it ends with None."""
        self._secured.pop(link, None)
        self._close_link(now, link)
        self._counts.pop(link, None)

    def close(self, peer: Endpoint, channel: str) -> None:
        """Close a link on purpose, and for good; requests under way on it are dropped without a call."""
        link = OutboundLink(peer, channel)
        self._secured.pop(link, None)
        self._counts.pop(link, None)
        dropped_ids = [key for key, p in self._pending.items() if p.link == link]
        for correlation_id in dropped_ids:
            del self._pending[correlation_id]
            self.outbox.cancel_timer((TIMER, correlation_id))
        self.outbox.add(CloseLink(link))
