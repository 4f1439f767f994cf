"""Every request ends in one call, regardless of responses and closes of other links."""

from __future__ import annotations

from kmirror.client.requester import Requester
from kmirror.kernel.clock import Instant
from kmirror.kernel.events import OutboundLink
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.headers import encode_response
from kmirror.protocol.message import Message

HERE, ELSEWHERE = Endpoint("here", 1), Endpoint("elsewhere", 1)
ANSWER = encode_response(ApiVersionsResponse(), 0, correlation_id=0)


def send(requester: Requester, told: list[Message | None]) -> None:
    def on_reply(_: Instant, reply: Message | None) -> None:
        told.append(reply)

    requester.send(0, HERE, "c", ApiVersionsRequest(), 0, on_reply, timeout_ms=1000)


def test_a_response_from_another_peer_does_not_end_the_request() -> None:
    requester, told = Requester("me", Outbox()), list[Message | None]()
    send(requester, told)
    requester.on_response(0, OutboundLink(ELSEWHERE, "c"), ANSWER)
    assert told == []
    requester.on_response(0, OutboundLink(HERE, "c"), ANSWER)
    assert len(told) == 1 and told[0] is not None


def test_a_callback_may_close_the_link_that_is_being_given_up() -> None:
    requester, told = Requester("me", Outbox()), list[Message | None]()

    def on_reply(_: Instant, reply: Message | None) -> None:
        told.append(reply)
        requester.close(HERE, "c")

    requester.send(0, HERE, "c", ApiVersionsRequest(), 0, on_reply, timeout_ms=1000)
    send(requester, told)
    requester.on_link_closed(0, OutboundLink(HERE, "c"))
    assert told == [None]


def test_the_reason_of_a_lost_link_is_kept_until_the_peer_responds() -> None:
    requester = Requester("me", Outbox())
    link = OutboundLink(HERE, "c")
    send(requester, [])
    requester.on_timeout(0, 0)
    assert requester.close_reasons == {}, "a timeout says nothing of the peer"
    requester.on_link_closed(0, link, "connection refused")
    assert requester.close_reasons == {HERE: "connection refused"}
    send(requester, [])
    requester.on_response(0, link, encode_response(ApiVersionsResponse(), 0, correlation_id=1))
    assert requester.close_reasons == {}
