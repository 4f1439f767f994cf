"""One port of the proxy: forwards frames to the broker and back, and decodes as few as possible.

A relay is a node: a runner gives it frames, and hooks wrap it like a broker of kmirror. Each link of a client has its
own link to the broker. Requests are forwarded at once, and responses in order, as by any broker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from kmirror.errors import ProtocolError
from kmirror.hooks.node_view import FetchedPartition, NodeView
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
    session_partitions: dict[FetchedPartition, None] | None


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
        self._by_broker_link: dict[OutboundLink, _Link] = {}
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

    def session_partitions(self, session_id: int) -> Iterable[FetchedPartition]:
        return self._view.session_partitions(session_id)

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
        address = self._upstream()
        if address is None:
            self._effects.append(CloseLink(event.link))
            return
        self._opened += 1
        broker = OutboundLink(address, f"{self._opened}")
        self._links[event.link] = self._by_broker_link[broker] = _Link(event.link, broker)

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
            session_partitions = (
                self._follow_fetch(frame, head) if head is not None and head.api_key == _FETCH else None
            )
            link.waiting.put(_OutstandingRequest(head, session_partitions), len(frame))
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

    def _follow_fetch(self, frame: Chunk, head: RequestHead) -> dict[FetchedPartition, None] | None:
        if head.api_version < _SESSIONS_FROM:
            return None
        try:
            body = decode_request_body(frame, head)
        except ProtocolError:
            return None
        assert isinstance(body, FetchRequest), body
        return self._view.on_fetch(body)

    def _on_response(self, now: Instant, event: ResponseReceived) -> None:
        link = self._by_broker_link.get(event.link)
        if link is None:
            return
        request = self._take_request(link, event.frame)
        if link.client_closed:
            if not link.waiting.requests and not link.may_be_unsent:
                self._drop(link)
            return
        self._adjust(link)
        self._effects.append(Reply(link.client, self._rewrite_response(link, request, event.frame)))

    def _take_request(self, link: _Link, frame: Chunk) -> _OutstandingRequest | None:
        """Return the request of a response: the oldest one, or a later one with its correlation id."""
        waiting = link.waiting
        if any(_is_response_to(request, frame) for request, _ in waiting.requests):
            while not _is_response_to(waiting.first, frame):
                waiting.take()  # The broker had no response to it.
        return waiting.take() if waiting.requests else None

    def _rewrite_response(self, link: _Link, request: _OutstandingRequest | None, frame: Chunk) -> tuple[Chunk, ...]:
        """Return the response for the client."""
        head = None if request is None else request.head
        if request is None or head is None:
            return (frame,)
        key, version = head.api_key, head.api_version
        first_version = FIRST_VERSION_WITH_ADDRESSES.get(key)
        has_addresses = first_version is not None and version >= first_version
        updates_view = (
            request.session_partitions is not None
            or key in RESPONSES_WITH_TOPICS
            or key in (_API_VERSIONS, _SASL_HANDSHAKE)
        )
        if not has_addresses and not updates_view:
            return (frame,)
        try:
            body = decode_response(frame, key, version).body
        except ProtocolError as error:
            self._effects.append(Note(f"a response to {find_key(key)} v{version} is forwarded unchanged: {error}"))
            return (frame,)
        self._update_view(link, request, body)
        changed = (
            drop_unknown_versions(body)
            if isinstance(body, ApiVersionsResponse)
            else has_addresses and self._addresses.rewrite_addresses(body)
        )
        if not changed:
            return (frame,)
        return tuple(encode_response_chunks(body, version, correlation_id=head.correlation_id))

    def _update_view(self, link: _Link, request: _OutstandingRequest, body: Message) -> None:
        match body:
            case FetchResponse():
                if request.session_partitions is not None:
                    self._view.open_session(body.session_id, request.session_partitions)
            case SaslHandshakeResponse():
                is_first = request.head is not None and request.head.api_version == 0
                link.has_tokens = is_first and body.error_code == ErrorCode.NONE
            case _:
                self._view.update(body)

    # -- the end of links ---------------------------------------------------------------------

    def _on_closed(self, now: Instant, event: LinkClosed) -> None:
        if isinstance(event.link, OutboundLink):
            link = self._by_broker_link.get(event.link)
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
        broker, *timer = event.key
        link = self._by_broker_link.get(broker)  # type: ignore[call-overload]  # All keys begin with links.
        if link is None:
            return
        if not timer:
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
        del self._by_broker_link[link.broker]
        self._links.pop(link.client, None)
        if link.client_closed:
            self._effects.append(CancelTimer((link.broker,)))
        if link.is_draining:
            self._effects.append(CancelTimer((link.broker, _DRAIN)))

    def _on_stop(self, now: Instant, event: Stop) -> None:
        self._effects.append(Stopped())


def _is_response_to(request: _OutstandingRequest, frame: Chunk) -> bool:
    """Return whether a response belongs to this request, by its correlation id; a token matches any."""
    return request.head is None or (len(frame) >= 4 and _unpack_correlation(frame, 0)[0] == request.head.correlation_id)


def _has_no_response(frame: Chunk, head: RequestHead) -> bool:
    """Return whether a broker sends no response to a Produce request."""
    try:
        return produce_acks(frame, head) == Acks.NONE
    except ProtocolError:
        return False
