"""Authentication of links: TLS by the runner, then SASL (KIP-43, KIP-152, KIP-368).

A link with `SecuritySettings` is opened by its first request, which waits until the broker has authenticated us.
ApiVersions returns the version of SaslAuthenticate that the broker serves, SaslHandshake names the mechanism, then its
messages go back and forth. If the broker limits the session, the first request after `REAUTHENTICATED_PERCENT` of it
authenticates again, on the same link, before it is sent.

A failure closes the link, which ends its requests without a response. The reason is kept for callers, and the broker is
not connected to for a pause that doubles each time.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from kmirror.client.backoff import Backoff
from kmirror.client.client_counts import ClientCounts
from kmirror.client.sasl import Mechanism, SaslError
from kmirror.client.security import SecuritySettings
from kmirror.kernel.clock import MILLISECOND, Duration, Instant
from kmirror.kernel.events import Chunk, OutboundLink
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.rng import Rng
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.sasl_authenticate_request import SaslAuthenticateRequest
from kmirror.protocol.gen.sasl_authenticate_response import SaslAuthenticateResponse
from kmirror.protocol.gen.sasl_handshake_request import SaslHandshakeRequest
from kmirror.protocol.gen.sasl_handshake_response import SaslHandshakeResponse
from kmirror.protocol.message import Message
from kmirror.protocol.negotiate import negotiate
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode

HANDSHAKE_VERSION = 1
"""From this version on SaslAuthenticate follows, and not bare tokens (Kafka 1.0)."""
NONCE_BYTES = 24
REAUTHENTICATED_PERCENT = 85
"""Of a session: the least that Kafka's clients wait; they add up to 10 at random."""
BACKOFF = Backoff(500, 10_000)
TEXT_MAX = 300
"""Characters of a broker's error message that are reported."""


class State(Enum):
    """The next event for which a link waits."""

    CLOSED = auto()
    """The first request opens it."""
    VERSIONS = auto()
    """The versions that the broker serves."""
    HANDSHAKE = auto()
    """The broker's acceptance of the mechanism."""
    EXCHANGE = auto()
    """Its next message of the mechanism."""
    READY = auto()
    """None: requests are sent."""


class Cause(Enum):
    """The event that moves a link to the next state."""

    OPENED = auto()
    VERSIONS_RECEIVED = auto()
    MECHANISM_ACCEPTED = auto()
    CHALLENGED = auto()
    ACCEPTED = auto()
    SESSION_EXPIRES = auto()
    """The session is about to end when a request is sent."""
    LINK_CLOSED = auto()
    """The link was closed, by either side."""


TRANSITIONS: Mapping[State, Mapping[Cause, State]] = {
    State.CLOSED: {Cause.OPENED: State.VERSIONS, Cause.ACCEPTED: State.READY, Cause.LINK_CLOSED: State.CLOSED},
    State.VERSIONS: {Cause.VERSIONS_RECEIVED: State.HANDSHAKE, Cause.LINK_CLOSED: State.CLOSED},
    State.HANDSHAKE: {Cause.MECHANISM_ACCEPTED: State.EXCHANGE, Cause.LINK_CLOSED: State.CLOSED},
    State.EXCHANGE: {Cause.CHALLENGED: State.EXCHANGE, Cause.ACCEPTED: State.READY, Cause.LINK_CLOSED: State.CLOSED},
    State.READY: {Cause.SESSION_EXPIRES: State.HANDSHAKE, Cause.LINK_CLOSED: State.CLOSED},
}
"""Without SASL a link is accepted as soon as it is opened."""


@dataclass(slots=True)
class _Failure:
    reason: str
    failures: int = 1
    retry_at: Instant = 0


@dataclass(slots=True)
class Authenticator:
    """Secures one client's links to a cluster, and keeps the failures for each broker."""

    security: SecuritySettings
    rng: Rng
    """Source of the nonces; a replayed journal draws the same."""
    timeout_ms: int
    _failures: dict[Endpoint, _Failure] = field(default_factory=dict)

    def nonce(self) -> str:
        """Return a text that is unique to one exchange."""
        return base64.urlsafe_b64encode(self.rng.octets(NONCE_BYTES)).decode()

    def failure_reason(self, peer: Endpoint) -> str:
        """Return why a broker cannot be reached at present, empty if that is not known."""
        failure = self._failures.get(peer)
        return "" if failure is None else failure.reason

    def retry_at(self, peer: Endpoint) -> Instant:
        """Return when a broker may be connected to again; 0 or a time in the past means now."""
        failure = self._failures.get(peer)
        return 0 if failure is None else failure.retry_at

    def record_failure(self, now: Instant, peer: Endpoint, reason: str) -> None:
        """Record that a link to a broker could not be secured."""
        failure = self._failures.setdefault(peer, _Failure(reason, failures=0))
        failure.reason = reason
        if failure.retry_at <= now:  # Else it is one of several links that were opened together.
            failure.retry_at = now + BACKOFF.pause_ms(failure.failures) * MILLISECOND
            failure.failures += 1

    def record_success(self, peer: Endpoint) -> None:
        """Record that a broker has responded to a request on a secured link."""
        if self._failures:
            self._failures.pop(peer, None)


SendAhead = Callable[[Instant, OutboundLink, Message, int, Callable[[Instant, Message | None], None], int], None]
"""(now, link, request, version, on_reply, timeout_ms); sends a request ahead of those that wait."""


class SecuredLink:
    """One link, and the requests that wait for it."""

    def __init__(
        self,
        link: OutboundLink,
        authenticator: Authenticator,
        send_ahead: SendAhead,
        transmit: Callable[[OutboundLink, tuple[Chunk, ...]], None],
        open_tls: Callable[[OutboundLink, Authenticator], None],
        close_link: Callable[[Instant, OutboundLink], None],
        counts: ClientCounts | None = None,
    ) -> None:
        self.link = link
        self.authenticator = authenticator
        self.state = State.CLOSED
        self._send_ahead = send_ahead
        self._transmit = transmit
        self._open_tls = open_tls
        self._close_link = close_link
        self._counts = counts
        self._waiting: list[tuple[Chunk, ...]] = []
        self._generation = 0
        """Number of times the link was opened: a response may arrive after it was opened again."""
        self._has_responded = False
        self._is_reauthentication = False
        """The broker has authenticated us on this connection, and we authenticate again."""
        self._authenticate_version = 0
        self._started_at: Instant = 0
        self._reauthenticate_at: Instant | None = None
        """When to authenticate again."""

    def _move(self, cause: Cause) -> None:
        self.state = TRANSITIONS[self.state][cause]

    # -- requests -----------------------------------------------------------------------------

    def send_encoded(self, now: Instant, chunks: tuple[Chunk, ...], timeout_us: Duration) -> Instant:
        """Send a request as soon as possible; return the time at which it ends if there is no response."""
        if self.state is State.CLOSED:
            if now < self.authenticator.retry_at(self.link.peer):
                return now  # It would be rejected again.
            self._open(now)
        if self.state is State.READY and self._reauthenticate_at is not None and now >= self._reauthenticate_at:
            self._move(Cause.SESSION_EXPIRES)
            self._is_reauthentication = True
            self._send_handshake(now)
        if self.state is State.READY:
            self._transmit(self.link, chunks)
        else:
            self._waiting.append(chunks)
        return now + timeout_us

    def on_response(self) -> None:
        """Record that the broker responded to a request."""
        if self.state is State.READY and not self._has_responded:
            self._has_responded = True
            self.authenticator.record_success(self.link.peer)

    def on_closed(self, now: Instant, reason: str) -> None:
        """Record that the link was closed, and the cause if known."""
        if self.state is not State.CLOSED and not self._has_responded:
            if self.state is not State.READY:
                context = f"the link was closed while we authenticated: {reason or 'no reason given'}"
                reason = f"{context}; is that port configured for {self.authenticator.security.protocol}?"
            if reason:
                self.authenticator.record_failure(now, self.link.peer, reason)
        self._move(Cause.LINK_CLOSED)
        self._waiting.clear()

    # -- steps --------------------------------------------------------------------------------

    def _open(self, now: Instant) -> None:
        self._generation += 1
        self._has_responded = self._is_reauthentication = False
        self._reauthenticate_at = None
        security = self.authenticator.security
        if security.tls is not None:
            self._open_tls(self.link, self.authenticator)
        if security.credentials is None:
            self._move(Cause.ACCEPTED)
            return
        self._move(Cause.OPENED)
        self._send(now, ApiVersionsRequest(), 0, self._on_versions)

    def _send(
        self, now: Instant, request: Message, version: int, on_response: Callable[[Instant, Message], None]
    ) -> None:
        generation = self._generation

        def on_reply(later: Instant, reply: Message | None) -> None:
            if generation == self._generation and self.state not in (State.CLOSED, State.READY) and reply is not None:
                on_response(later, reply)

        self._send_ahead(now, self.link, request, version, on_reply, self.authenticator.timeout_ms)

    def _on_versions(self, now: Instant, reply: Message) -> None:
        assert isinstance(reply, ApiVersionsResponse), "response to the request"
        served = {row.api_key: (row.min_version, row.max_version) for row in reply.api_keys}
        broker_range = served.get(key_of(SaslAuthenticateRequest))
        client_range = (SaslAuthenticateRequest.MIN_VERSION, SaslAuthenticateRequest.MAX_VERSION)
        version = None if broker_range is None else negotiate(client_range, broker_range)
        if reply.error_code or version is None:
            self._fail(
                now, "the broker does not serve SaslAuthenticate: it is older than Kafka 1.0, or does not support SASL"
            )
            return
        self._authenticate_version = version
        self._move(Cause.VERSIONS_RECEIVED)
        self._send_handshake(now)

    def _send_handshake(self, now: Instant) -> None:
        credentials = self.authenticator.security.credentials
        assert credentials is not None, "a link without SASL has no session"
        self._started_at = now
        request = SaslHandshakeRequest(mechanism=credentials.mechanism)
        self._send(now, request, HANDSHAKE_VERSION, self._on_handshake)

    def _on_handshake(self, now: Instant, reply: Message) -> None:
        assert isinstance(reply, SaslHandshakeResponse), "response to the request"
        credentials = self.authenticator.security.credentials
        assert credentials is not None, "the link uses SASL"
        if reply.error_code == ErrorCode.UNSUPPORTED_SASL_MECHANISM:
            mechanisms = ", ".join(reply.mechanisms)[:TEXT_MAX]
            self._on_error(
                now, reply.error_code, f"it supports {mechanisms}, but sasl.mechanism is {credentials.mechanism}"
            )
        elif reply.error_code == ErrorCode.ILLEGAL_SASL_STATE:
            protocol = self.authenticator.security.protocol
            self._on_error(
                now, reply.error_code, f"that port does not support SASL, but security.protocol is {protocol}"
            )
        elif reply.error_code:
            self._on_error(now, reply.error_code, "it rejected the handshake")
        else:
            self._move(Cause.MECHANISM_ACCEPTED)
            mechanism = credentials.begin(self.authenticator.nonce())
            self._send_token(now, mechanism, mechanism.first())

    def _send_token(self, now: Instant, mechanism: Mechanism, message: bytes) -> None:
        def on_reply(later: Instant, reply: Message) -> None:
            assert isinstance(reply, SaslAuthenticateResponse), "response to the request"
            self._on_message(later, mechanism, reply)

        self._send(now, SaslAuthenticateRequest(auth_bytes=message), self._authenticate_version, on_reply)

    def _on_message(self, now: Instant, mechanism: Mechanism, reply: SaslAuthenticateResponse) -> None:
        if reply.error_code:
            self._on_error(now, reply.error_code, reply.error_message or "no reason given")
            return
        try:
            answer = mechanism.respond(bytes(reply.auth_bytes))
        except SaslError as error:
            self._fail(now, str(error))
            return
        if answer is None:
            self._accept(now, reply.session_lifetime_ms)
        else:
            self._move(Cause.CHALLENGED)
            self._send_token(now, mechanism, answer)

    def _accept(self, now: Instant, lifetime_ms: int) -> None:
        self._move(Cause.ACCEPTED)
        if self._counts is not None:
            self._counts.record_authentication(
                now, now - self._started_at, is_reauthentication=self._is_reauthentication
            )
        lifetime_us = lifetime_ms * REAUTHENTICATED_PERCENT // 100 * MILLISECOND
        self._reauthenticate_at = self._started_at + lifetime_us if lifetime_ms > 0 else None
        waiting, self._waiting = self._waiting, []
        for chunks in waiting:
            self._transmit(self.link, chunks)

    def _on_error(self, now: Instant, error_code: int, text: str) -> None:
        is_known = error_code in ErrorCode.__members__.values()
        name = ErrorCode(error_code).name if is_known else f"error {error_code}"
        self._fail(now, f"{name}: {''.join(char for char in text if char.isprintable())[:TEXT_MAX]}")

    def _fail(self, now: Instant, reason: str) -> None:
        if self._counts is not None:
            self._counts.record_failure(now, is_reauthentication=self._is_reauthentication)
        self.authenticator.record_failure(now, self.link.peer, reason)
        self._move(Cause.LINK_CLOSED)
        self._close_link(now, self.link)
