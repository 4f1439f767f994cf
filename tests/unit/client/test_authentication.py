"""A link is authenticated before other requests: the steps, renewed sessions, failures, and the pause after them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from kmirror.client.authentication import TRANSITIONS, Authenticator, Cause, State
from kmirror.client.requester import TIMER, Requester
from kmirror.client.security import Credentials, SecuritySettings, security_of
from kmirror.kernel.clock import MILLISECOND, Instant
from kmirror.kernel.events import CloseLink, CountLink, Effect, OpenLink, OutboundLink, Send, SetTimer
from kmirror.kernel.outbox import Outbox
from kmirror.kernel.rng import Rng
from kmirror.kernel.tls import TlsSettings
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.metadata_request import MetadataRequest
from kmirror.protocol.gen.metadata_response import MetadataResponse
from kmirror.protocol.gen.sasl_authenticate_request import SaslAuthenticateRequest
from kmirror.protocol.gen.sasl_authenticate_response import SaslAuthenticateResponse
from kmirror.protocol.gen.sasl_handshake_request import SaslHandshakeRequest
from kmirror.protocol.gen.sasl_handshake_response import SaslHandshakeResponse
from kmirror.protocol.headers import decode_request, encode_response
from kmirror.protocol.message import Message
from kmirror.spec.error_codes import ErrorCode
from tests.unit.client.script import ONE, TWO

LINK, OTHER, ELSEWHERE = OutboundLink(ONE, "a"), OutboundLink(ONE, "b"), OutboundLink(TWO, "a")
PLAIN = SecuritySettings("SASL_PLAINTEXT", None, Credentials("PLAIN", "u", "hush"))
SCRAM = SecuritySettings("SASL_PLAINTEXT", None, Credentials("SCRAM-SHA-256", "u", "hush"))
TLS = SecuritySettings("SSL", TlsSettings(), None)
ALL = [ApiVersion(api_key=36, min_version=0, max_version=2)]
S = 1000 * MILLISECOND


@dataclass
class Talk:
    """A requester whose links are authenticated, and its results."""

    security: SecuritySettings
    answers: list[Message | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.outbox = Outbox()
        self.requester = Requester("client", self.outbox)
        self.authenticator = Authenticator(self.security, Rng(1), 5000)
        self.effects: list[Effect] = []
        self.asked: list[tuple[OutboundLink, int, int, Message]] = []
        """(link, version, correlation id, body) of the pending requests."""
        self.timers: dict[int, Instant] = {}
        self.requester.count(LINK)
        for link in (LINK, OTHER, ELSEWHERE):
            self.requester.secure(link, self.authenticator)

    def ask(self, now: Instant = 0, link: OutboundLink = LINK) -> None:
        self.requester.send(
            now, link.peer, link.channel, MetadataRequest(), 9, lambda _, m: self.answers.append(m), timeout_ms=9000
        )

    def pending_requests(self) -> list[tuple[OutboundLink, int, int, Message]]:
        for effect in self.outbox.drain():
            self.effects.append(effect)
            if isinstance(effect, Send):
                head, body = decode_request(b"".join(effect.chunks))
                self.asked.append((effect.link, head.api_version, head.correlation_id, body))
            if isinstance(effect, SetTimer):
                assert effect.key[0] == TIMER
                self.timers[int(str(effect.key[1]))] = effect.at
        return self.asked

    def kinds(self) -> list[type[Message]]:
        """Return the types of the pending requests."""
        return [type(body) for *_, body in self.pending_requests()]

    def answer(self, reply: Message, now: Instant = 0) -> Message:
        """Answer the oldest request; return its body."""
        link, version, correlation_id, body = self.pending_requests().pop(0)
        self.requester.on_response(now, link, encode_response(reply, version, correlation_id=correlation_id))
        self.pending_requests()
        return body

    def shake(self, now: Instant = 0) -> None:
        """Answer all requests up to the first message of the mechanism."""
        self.answer(ApiVersionsResponse(api_keys=ALL), now)
        shaken = self.answer(SaslHandshakeResponse(), now)
        assert isinstance(shaken, SaslHandshakeRequest) and self.security.credentials is not None
        assert shaken.mechanism == self.security.credentials.mechanism

    def accept(self, now: Instant = 0, lifetime_ms: int = 0) -> None:
        self.answer(SaslAuthenticateResponse(error_message=None, session_lifetime_ms=lifetime_ms), now)

    def why(self) -> str:
        return self.authenticator.failure_reason(ONE)

    def counts(self) -> dict[str, tuple[int, int]]:
        """Return the counters of `LINK`: count and sum."""
        counts = self.requester.counts(LINK)
        assert counts is not None
        names = (
            "requests",
            "responses",
            "authenticated",
            "failed_authentications",
            "reauthenticated",
            "failed_reauthentications",
        )
        sensors = {name: getattr(counts, name) for name in names}
        return {name: (sensor.count, sensor.total) for name, sensor in sensors.items() if sensor.count}


def test_requests_wait_until_the_link_is_authenticated() -> None:
    talk = Talk(PLAIN)
    talk.ask()
    talk.ask()
    assert talk.kinds() == [ApiVersionsRequest]
    talk.shake()
    ((_, version, _, sent),) = talk.pending_requests()
    assert isinstance(sent, SaslAuthenticateRequest) and (version, sent.auth_bytes) == (2, b"\0u\0hush")
    talk.ask()
    assert talk.kinds() == [SaslAuthenticateRequest]
    talk.accept()
    assert talk.kinds() == [MetadataRequest] * 3
    talk.answer(MetadataResponse())
    talk.ask(now=10**12)
    assert talk.kinds() == [MetadataRequest] * 3, "a session without an end"
    assert len(talk.answers) == 1 and not talk.why()


def test_authentication_requests_are_counted_separately() -> None:
    talk = Talk(PLAIN)
    talk.ask()
    assert talk.kinds() == [ApiVersionsRequest] and CountLink(LINK) in talk.effects
    talk.shake()
    talk.accept()
    assert talk.counts().keys() == {"requests", "authenticated"}
    sent = sum(4 + len(b"".join(effect.chunks)) for effect in talk.effects[-2:] if isinstance(effect, Send))
    talk.answer(MetadataResponse())
    counted = talk.counts()
    assert counted["requests"] == (1, sent)
    assert counted["responses"] == (1, 4 + len(encode_response(MetadataResponse(), 9, correlation_id=0)))
    talk.ask(link=OTHER)
    talk.ask()
    assert talk.counts()["requests"][0] == 2, "another link is not counted"
    assert talk.requester.counts(OTHER) is None
    talk.requester.close_link(0, LINK)
    assert talk.requester.counts(LINK) is None


def test_failures_of_the_first_and_of_later_sessions_are_counted_separately() -> None:
    talk = Talk(PLAIN)
    refused = SaslAuthenticateResponse(error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message="no")
    talk.ask()
    talk.shake()
    talk.answer(refused)
    assert talk.counts() == {"requests": talk.counts()["requests"], "failed_authentications": (1, 1)}
    talk.ask(10 * S)
    talk.shake(10 * S)
    talk.accept(10 * S, lifetime_ms=1000)
    talk.answer(MetadataResponse(), 10 * S)
    talk.ask(20 * S)
    talk.answer(SaslHandshakeResponse(), 20 * S)
    talk.answer(refused, 20 * S)
    counted = talk.counts()
    assert (
        counted["failed_authentications"] == counted["authenticated"] == counted["failed_reauthentications"] == (1, 1)
    )
    talk.ask(40 * S)
    talk.shake(40 * S)
    talk.answer(refused, 40 * S)
    assert talk.counts()["failed_authentications"] == (2, 2), "it is another connection"


def test_each_link_is_secured_by_itself() -> None:
    talk = Talk(PLAIN)
    talk.ask(link=LINK)
    talk.ask(link=ELSEWHERE)
    assert [link for link, *_ in talk.pending_requests()] == [LINK, ELSEWHERE]
    assert talk.kinds() == [ApiVersionsRequest] * 2


def test_a_link_with_tls_alone_is_opened_and_then_used() -> None:
    talk = Talk(TLS)
    talk.ask()
    talk.ask()
    assert talk.kinds() == [MetadataRequest] * 2
    opened = [effect for effect in talk.effects if isinstance(effect, OpenLink)]
    assert opened == [OpenLink(LINK, TlsSettings())]
    assert [type(effect) for effect in talk.effects[:3]] == [CountLink, OpenLink, Send]


def test_a_lost_link_is_authenticated_again() -> None:
    talk = Talk(SCRAM)
    talk.ask()
    talk.shake()
    first = talk.pending_requests()[0][3]
    talk.requester.on_link_closed(0, LINK)
    assert talk.answers == [None] and "is that port configured for SASL_PLAINTEXT" in talk.why()
    talk.pending_requests().clear()
    talk.ask(now=10 * S)
    talk.shake(now=10 * S)
    second = talk.pending_requests()[0][3]
    assert isinstance(first, SaslAuthenticateRequest) and isinstance(second, SaslAuthenticateRequest)
    assert first.auth_bytes != second.auth_bytes, "another nonce"


def test_nonces_depend_only_on_the_seed() -> None:
    ours, same, other = (Authenticator(SCRAM, Rng(seed), 1) for seed in (1, 1, 2))
    found = ours.nonce()
    assert found == same.nonce() != other.nonce() and found != ours.nonce()
    assert found.isascii() and "," not in found


@pytest.mark.parametrize("with_tls", [False, True])
def test_a_session_is_renewed_before_the_next_request(with_tls: bool) -> None:
    talk = Talk(SecuritySettings("SASL_SSL", TlsSettings(), PLAIN.credentials) if with_tls else PLAIN)
    talk.ask()
    talk.shake(now=S)
    talk.accept(now=2 * S, lifetime_ms=10_000)  # Counts from the handshake on.
    talk.ask(now=9 * S + S // 2 - 1)
    assert talk.kinds() == [MetadataRequest] * 2
    talk.ask(now=9 * S + S // 2)
    talk.ask(now=9 * S + S // 2)
    assert talk.kinds() == [MetadataRequest, MetadataRequest, SaslHandshakeRequest]
    talk.answer(MetadataResponse(), 10 * S)
    talk.answer(MetadataResponse(), 10 * S)
    talk.answer(SaslHandshakeResponse(), 10 * S)
    talk.accept(now=10 * S)
    assert talk.kinds() == [MetadataRequest] * 2
    assert sum(isinstance(effect, OpenLink) for effect in talk.effects) == with_tls
    counted = talk.counts()
    assert counted["authenticated"] == (1, 1) and counted["reauthenticated"] == (1, 500), "milliseconds"
    assert not any(isinstance(effect, CloseLink) for effect in talk.effects)


@pytest.mark.parametrize(
    ("replies", "words"),
    [
        ([ApiVersionsResponse(api_keys=[])], "not serve SaslAuthenticate"),
        ([ApiVersionsResponse(error_code=35, api_keys=ALL)], "not serve SaslAuthenticate"),
        (
            [
                ApiVersionsResponse(api_keys=ALL),
                SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=["OAUTHBEARER"]),
            ],
            "UNSUPPORTED_SASL_MECHANISM: it supports OAUTHBEARER, but sasl.mechanism is SCRAM-SHA-256",
        ),
        (
            [ApiVersionsResponse(api_keys=ALL), SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)],
            "ILLEGAL_SASL_STATE: that port does not support SASL",
        ),
        ([ApiVersionsResponse(api_keys=ALL), SaslHandshakeResponse(error_code=999)], "error 999"),
        (
            [
                ApiVersionsResponse(api_keys=ALL),
                SaslHandshakeResponse(),
                SaslAuthenticateResponse(
                    error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message="no\x1b[2J " + "x" * 9999
                ),
            ],
            "SASL_AUTHENTICATION_FAILED: no",
        ),
        (
            [
                ApiVersionsResponse(api_keys=ALL),
                SaslHandshakeResponse(),
                SaslAuthenticateResponse(error_message=None, auth_bytes=b"r=other,s=AAAA,i=4096"),
            ],
            "another exchange",
        ),
    ],
)
def test_a_failed_authentication_fails_waiting_requests_with_a_reason(replies: list[Message], words: str) -> None:
    talk = Talk(SCRAM)
    talk.ask()
    talk.ask()
    for reply in replies:
        talk.answer(reply)
    assert talk.answers == [None, None] and CloseLink(LINK) in talk.effects
    assert words in talk.why() and "hush" not in talk.why() and len(talk.why()) < 400 and "\x1b" not in talk.why()


def test_after_each_failure_the_pause_is_longer() -> None:
    talk, now, pauses = Talk(PLAIN), 0, []
    for _ in range(8):
        talk.ask(now)
        talk.shake(now)
        talk.answer(SaslAuthenticateResponse(error_code=58, error_message="no"), now)
        begun = now
        while True:
            now += 100 * MILLISECOND
            talk.ask(now)
            if talk.kinds():
                break
            # It ends without a response when its timer fires, which is immediately.
            newest = max(talk.timers)
            assert talk.timers[newest] == now
            talk.requester.on_timeout(now, newest)
        pauses.append((now - begun) // MILLISECOND)
        talk.requester.on_link_closed(now, LINK)
        talk.pending_requests().clear()
        now = talk.authenticator.retry_at(ONE)
    assert pauses[0] == 500 and pauses == sorted(pauses) and pauses[-1] == 10_000
    talk.ask(now, ELSEWHERE)
    assert talk.kinds() == [ApiVersionsRequest], "another broker is asked at once"


def test_a_response_ends_the_pauses() -> None:
    talk = Talk(TLS)
    talk.ask()
    talk.requester.on_link_closed(0, LINK, "the broker's certificate is not trusted: it has expired")
    assert talk.why() == "the broker's certificate is not trusted: it has expired" and talk.authenticator.retry_at(ONE)
    talk.pending_requests().clear()
    talk.ask(S)
    talk.answer(MetadataResponse(), S)
    assert talk.why() == "" and not talk.authenticator.retry_at(ONE)
    talk.requester.on_link_closed(2 * S, LINK, "the other end closed it")
    assert talk.why() == "", "it has worked before"


def test_other_credentials_start_a_new_authentication() -> None:
    talk = Talk(PLAIN)
    talk.ask()
    talk.shake()
    talk.answer(SaslAuthenticateResponse(error_code=58, error_message="no"))
    mended = Authenticator(SCRAM, Rng(2), 5000)
    talk.requester.close_link(0, LINK)
    talk.requester.secure(LINK, mended)
    talk.ask()
    assert talk.kinds() == [ApiVersionsRequest] and mended.failure_reason(ONE) == ""


def test_every_state_can_be_left_and_reached() -> None:
    assert set(TRANSITIONS) == set(State)
    reached = {to for row in TRANSITIONS.values() for to in row.values()}
    assert reached == set(State) and all(row[Cause.LINK_CLOSED] is State.CLOSED for row in TRANSITIONS.values())
    assert {cause for row in TRANSITIONS.values() for cause in row} == set(Cause)


def test_configs_make_the_same_security_again() -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hush";'
    configs = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas}
    assert security_of(configs) == PLAIN
