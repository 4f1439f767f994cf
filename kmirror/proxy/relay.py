"""One port of the proxy: forwards frames to the broker and back, and decodes as few as possible.

A relay is a node: a runner gives it frames, and hooks wrap it like a broker of kmirror. Each link of a client has its
own link to the broker. Requests are forwarded at once, and responses in order, as by any broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kmirror.errors import ProtocolError
from kmirror.hooks.node_view import Fetched, NodeView
from kmirror.kernel.clock import MILLISECOND, SECOND, Duration, Instant
from kmirror.kernel.events import (
    CancelTimer,
    Chunk,
    CloseLink,
    Effect,
    Event,
    InboundLink,
    LinkClosed,
    LinkOpened,
    Note,
    OutboundLink,
    Reply,
    RequestReceived,
    ResponseReceived,
    ResumeReading,
    Send,
    SetTimer,
    Stop,
    Stopped,
    StopReading,
    TimerFired,
)
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.link_queue import LinkQueue
from kmirror.kernel.uuid import Uuid
from kmirror.protocol import wire
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.fetch_response import FetchResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.sasl_handshake_request import SaslHandshakeRequest
from kmirror.protocol.gen.sasl_handshake_response import SaslHandshakeResponse
from kmirror.protocol.headers import (
    RequestHead,
    decode_request_body,
    decode_response,
    encode_response_chunks,
    is_request,
    peek_request,
)
from kmirror.protocol.message import Message
from kmirror.protocol.produce_acks import produce_acks
from kmirror.protocol.registry import find_key, key_of
from kmirror.proxy.broker_addresses import FIRST_VERSION_WITH_ADDRESSES, BrokerAddresses, drop_unknown_versions
from kmirror.proxy.cluster_view import RESPONSES_WITH_TOPICS, ClusterView
from kmirror.spec.error_codes import ErrorCode
from kmirror.spec.wire_values import Acks

WAITING_MAX = 256
"""Number of outstanding requests at which a link is not read any more."""
WAITING_BYTES_MAX = 32 << 20
CHECK_INTERVAL: Duration = 10 * MILLISECOND
"""Interval of the checks whether a broker has received requests without a response."""
DRAIN_TIMEOUT: Duration = 10 * SECOND
"""Time for a broker to receive requests sent before the client closed its link."""
_FETCH = key_of(FetchRequest)
_PRODUCE = key_of(ProduceRequest)
_API_VERSIONS = key_of(ApiVersionsResponse)
_SASL_HANDSHAKE = key_of(SaslHandshakeRequest)
_SESSIONS_FROM = 7
_DRAIN = "drain"
_unpack_correlation = wire.fused("i")[0]


class _OutstandingRequest(NamedTuple):
    """A request without a response yet."""

    head: RequestHead | None
    """None for a SASL token."""
    fetched: dict[Fetched, None] | None


@dataclass(slots=True)
class _Link:
    client: InboundLink
    broker: OutboundLink
    waiting: LinkQueue[_OutstandingRequest] = field(default_factory=lambda: LinkQueue(WAITING_MAX, WAITING_BYTES_MAX))
    has_tokens: bool = False
    """Whether a SaslHandshake v0 succeeded: frames may be tokens without a header."""
    is_read: bool = True
    client_closed: bool = False
    """Whether the client has closed it."""
    may_be_unsent: bool = False
    """Whether a request without a response was sent, so that its arrival is not confirmed."""
    is_draining: bool = False
    """Whether too many bytes of requests without a response are still unsent."""

    @property
    def is_full(self) -> bool:
        return self.is_draining or self.waiting.is_full


class Relay(NodeView):
    """The port of a broker, or of a bootstrap server whose id is not known (-1, -2, ...)."""

    def __init__(
        self,
        node_id: int,
        upstream: Callable[[], Endpoint | None],
        unsent: Callable[[OutboundLink], int],
        addresses: BrokerAddresses,
        view: ClusterView,
    ) -> None:
        """Set the callbacks: `upstream` returns the broker's address now, or None if no link may be opened to it.

        `unsent` returns the unsent bytes of a link.
        """
        self._node_id = node_id
        self._upstream = upstream
        self._unsent = unsent
        self._addresses = addresses
        self._view = view
        self._links: dict[InboundLink, _Link] = {}
        self._by_channel: dict[OutboundLink, _Link] = {}
        self._opened = 0
        self._effects: list[Effect] = []
        self._handlers: dict[type, Callable[[Instant, Any], None]] = {
            RequestReceived: self._on_request,
            ResponseReceived: self._on_response,
            LinkOpened: self._on_opened,
            LinkClosed: self._on_closed,
            TimerFired: self._on_timer,
            Stop: self._on_stop,
        }

    # -- interface for hooks ------------------------------------------------------------------

    @property
    def node_id(self) -> int:
        return self._node_id

    @property
    def topic_names(self) -> Mapping[Uuid, str]:
        return self._view.topic_names

    @property
    def partitions(self) -> Mapping[str, Iterable[int]]:
        return self._view.partitions

    def fetched_by(self, session_id: int) -> Iterable[Fetched]:
        return self._view.fetched_by(session_id)

    def is_of_node(self, head: RequestHead) -> bool:
        """Return False: all senders are clients of the proxy."""
        return False

    # -- events -------------------------------------------------------------------------------

    def handle(self, now: Instant, event: Event) -> list[Effect]:
        """Return the effects of `event`."""
        handler = self._handlers.get(type(event))
        if handler is not None:
            handler(now, event)
        effects, self._effects = self._effects, []
        return effects

    def _on_opened(self, now: Instant, event: LinkOpened) -> None:
        at = self._upstream()
        if at is None:
            self._effects.append(CloseLink(event.link))
            return
        self._opened += 1
        broker = OutboundLink(at, f"{self._opened}")
        self._links[event.link] = self._by_channel[broker] = _Link(event.link, broker)

    def _on_request(self, now: Instant, event: RequestReceived) -> None:
        link = self._links.get(event.link)
        if link is None:
            return
        frame = event.frame
        head = None
        if not link.has_tokens or is_request(frame):
            try:
                head = peek_request(frame)
            except ProtocolError:
                pass  # The broker reports the error.
        if head is not None and head.api_key == _PRODUCE and _has_no_response(frame, head):
            link.may_be_unsent = True
            self._throttle(now, link)
        else:
            fetched = self._follow_fetch(frame, head) if head is not None and head.api_key == _FETCH else None
            link.waiting.put(_OutstandingRequest(head, fetched), len(frame))
        self._effects.append(Send(link.broker, (frame,)))
        self._adjust(link)

    def _throttle(self, now: Instant, link: _Link) -> None:
        """Stop reading from the client while too many bytes without a response are unsent."""
        if not link.is_draining and self._unsent(link.broker) >= WAITING_BYTES_MAX:
            link.is_draining = True
            self._effects.append(SetTimer((link.broker, _DRAIN), now + CHECK_INTERVAL))

    def _adjust(self, link: _Link) -> None:
        """Read the client's requests unless too many are outstanding."""
        if link.is_read == link.is_full and not link.client_closed:
            link.is_read = not link.is_full
            self._effects.append(ResumeReading(link.client) if link.is_read else StopReading(link.client))

    def _follow_fetch(self, frame: Chunk, head: RequestHead) -> dict[Fetched, None] | None:
        if head.api_version < _SESSIONS_FROM:
            return None
        try:
            body = decode_request_body(frame, head)
        except ProtocolError:
            return None
        assert isinstance(body, FetchRequest), body
        return self._view.on_fetch(body)

    def _on_response(self, now: Instant, event: ResponseReceived) -> None:
        link = self._by_channel.get(event.link)
        if link is None:
            return
        sent = self._take_request(link, event.frame)
        if link.client_closed:
            if not link.waiting.requests and not link.may_be_unsent:
                self._drop(link)
            return
        self._adjust(link)
        self._effects.append(Reply(link.client, self._rewritten(link, sent, event.frame)))

    def _take_request(self, link: _Link, frame: Chunk) -> _OutstandingRequest | None:
        """Return the request of a response: the oldest one, or a later one with its correlation id."""
        waiting = link.waiting
        if any(_answers(sent, frame) for sent, _ in waiting.requests):
            while not _answers(waiting.first, frame):
                waiting.take()  # The broker had no response to it.
        return waiting.take() if waiting.requests else None

    def _rewritten(self, link: _Link, sent: _OutstandingRequest | None, frame: Chunk) -> tuple[Chunk, ...]:
        """Return the response for the client."""
        head = None if sent is None else sent.head
        if sent is None or head is None:
            return (frame,)
        key, version = head.api_key, head.api_version
        names = FIRST_VERSION_WITH_ADDRESSES.get(key)
        is_naming = names is not None and version >= names
        is_told = sent.fetched is not None or key in RESPONSES_WITH_TOPICS or key in (_API_VERSIONS, _SASL_HANDSHAKE)
        if not is_naming and not is_told:
            return (frame,)
        try:
            body = decode_response(frame, key, version).body
        except ProtocolError as error:
            self._effects.append(Note(f"a response to {find_key(key)} v{version} is forwarded unchanged: {error}"))
            return (frame,)
        self._update_view(link, sent, body)
        changed = (
            drop_unknown_versions(body)
            if isinstance(body, ApiVersionsResponse)
            else is_naming and self._addresses.rewrite_addresses(body)
        )
        if not changed:
            return (frame,)
        return tuple(encode_response_chunks(body, version, correlation_id=head.correlation_id))

    def _update_view(self, link: _Link, sent: _OutstandingRequest, body: Message) -> None:
        match body:
            case FetchResponse():
                if sent.fetched is not None:
                    self._view.open_session(body.session_id, sent.fetched)
            case SaslHandshakeResponse():
                is_first = sent.head is not None and sent.head.api_version == 0
                link.has_tokens = is_first and body.error_code == ErrorCode.NONE
            case _:
                self._view.update(body)

    # -- the end of links ---------------------------------------------------------------------

    def _on_closed(self, now: Instant, event: LinkClosed) -> None:
        if isinstance(event.link, OutboundLink):
            link = self._by_channel.get(event.link)
            if link is not None:
                self._forget(link)
                if not link.client_closed:
                    self._effects.append(CloseLink(link.client))
                    if event.reason and not link.waiting.requests:
                        self._effects.append(Note(f"broker {self._node_id}: {event.reason}"))
            return
        link = self._links.pop(event.link, None)
        if link is None:
            return
        link.client_closed = True
        if link.waiting.requests or link.may_be_unsent:
            # Requests sent before the client left still reach the broker, as without a proxy.
            self._effects.append(SetTimer((link.broker,), now + DRAIN_TIMEOUT))
        else:
            self._drop(link)

    def _on_timer(self, now: Instant, event: TimerFired) -> None:
        broker, *what = event.key
        link = self._by_channel.get(broker)  # type: ignore[call-overload]  # All keys begin with links.
        if link is None:
            return
        if not what:
            self._drop(link)
        elif self._unsent(link.broker) >= WAITING_BYTES_MAX // 2:
            self._effects.append(SetTimer((link.broker, _DRAIN), now + CHECK_INTERVAL))
        else:
            link.is_draining = False
            self._adjust(link)

    def _drop(self, link: _Link) -> None:
        self._forget(link)
        self._effects.append(CloseLink(link.broker))

    def _forget(self, link: _Link) -> None:
        del self._by_channel[link.broker]
        self._links.pop(link.client, None)
        if link.client_closed:
            self._effects.append(CancelTimer((link.broker,)))
        if link.is_draining:
            self._effects.append(CancelTimer((link.broker, _DRAIN)))

    def _on_stop(self, now: Instant, event: Stop) -> None:
        self._effects.append(Stopped())


def _answers(sent: _OutstandingRequest, frame: Chunk) -> bool:
    """Return whether a response belongs to this request, by its correlation id; a token matches any."""
    return sent.head is None or (len(frame) >= 4 and _unpack_correlation(frame, 0)[0] == sent.head.correlation_id)


def _has_no_response(frame: Chunk, head: RequestHead) -> bool:
    """Return whether a broker sends no response to a Produce request."""
    try:
        return produce_acks(frame, head) == Acks.NONE
    except ProtocolError:
        return False
