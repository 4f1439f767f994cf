"""An unexpected exception inside a node: the simulator raises it, a server continues."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kmirror.client.requester import Requester
from kmirror.cluster.authorizer import ALLOW_ALL
from kmirror.cluster.server import Inbound, Server
from kmirror.errors import LocalProtocolError
from kmirror.kernel.clock import SECOND, Instant
from kmirror.kernel.events import CloseLink, Effect, Note, OutboundLink, Reply, SetTimer, Started, TimerFired
from kmirror.kernel.failures import FOLLOW_UPS_MAX, Failures, HandlingFailed, OnFailure
from kmirror.kernel.ids import Endpoint
from kmirror.kernel.outbox import Outbox
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersionsResponse
from kmirror.protocol.gen.list_offsets_request import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from kmirror.protocol.gen.list_offsets_response import ListOffsetsResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import decode_response, encode_request, encode_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of
from kmirror.spec.error_codes import ErrorCode
from tests.client_links import link_opened

REQUESTS = (ApiVersionsRequest, ListOffsetsRequest, ProduceRequest)
VERSIONS = {key_of(request): (0, 12) for request in REQUESTS}
CLIENT = link_opened("c")
LIST = ListOffsetsRequest(topics=[ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(partition_index=3)])])


class Bug(Exception):
    pass


def broken(now: Instant, inbound: Inbound) -> None:
    raise Bug("not thought of")


def half_done(now: Instant, inbound: Inbound) -> None:
    inbound.reply(ApiVersionsResponse())
    raise Bug("after the answer")


def unwritable(now: Instant, inbound: Inbound) -> None:
    inbound.reply(ApiVersionsResponse(throttle_time_ms=1 << 40))


def server(handler: Callable[[Instant, Inbound], None], policy: OnFailure) -> tuple[Server, Failures]:
    outbox = Outbox()
    failures = Failures(outbox, policy)
    made = Server(lambda: VERSIONS, dict, outbox, ALLOW_ALL, failures=failures)
    made.serve(dict.fromkeys(REQUESTS, handler))
    made.accept()
    made.on_opened(CLIENT)
    return made, failures


def ask(target: Server, body: Message, version: int) -> list[Effect]:
    target.on_frame(0, CLIENT.link, encode_request(body, version, correlation_id=4, client_id=None))
    return target.outbox.drain()


def test_a_handler_that_fails_in_a_simulation_ends_the_run() -> None:
    s, failures = server(broken, OnFailure.RAISE)
    with pytest.raises(Bug, match="not thought of"):
        ask(s, LIST, 5)
    assert failures.count == 0


def test_a_failing_handler_of_a_server_is_an_unknown_server_error() -> None:
    s, failures = server(broken, OnFailure.CONTINUE)
    for turn in (1, 2):
        note, reply = ask(s, LIST, 5)
        assert isinstance(note, Note) and isinstance(note.fact, HandlingFailed) and isinstance(note.fact.error, Bug)
        assert "ListOffsetsRequest" in note.fact.operation
        assert isinstance(reply, Reply) and failures.count == turn
        answer = decode_response(b"".join(reply.chunks), key_of(ListOffsetsRequest), 5).body
        assert isinstance(answer, ListOffsetsResponse)
        [row] = answer.topics[0].partitions
        assert (answer.topics[0].name, row.partition_index) == ("t", 3)
        assert row.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_response_that_cannot_be_written_is_an_unknown_server_error() -> None:
    s, _ = server(unwritable, OnFailure.CONTINUE)
    note, reply = ask(s, ApiVersionsRequest(), 3)
    assert isinstance(note, Note) and isinstance(note.fact, HandlingFailed)
    assert isinstance(note.fact.error, LocalProtocolError) and isinstance(reply, Reply)
    answer = decode_response(b"".join(reply.chunks), key_of(ApiVersionsRequest), 3).body
    assert isinstance(answer, ApiVersionsResponse) and answer.error_code == ErrorCode.UNKNOWN_SERVER_ERROR


def test_a_handler_that_fails_after_its_response_responds_once() -> None:
    s, failures = server(half_done, OnFailure.CONTINUE)
    effects = ask(s, ApiVersionsRequest(), 0)
    assert [type(effect) for effect in effects] == [Reply, Note] and failures.count == 1


def test_a_failed_request_without_a_response_closes_its_link() -> None:
    s, _ = server(broken, OnFailure.CONTINUE)
    assert CloseLink(CLIENT.link) in ask(s, ProduceRequest(acks=0, timeout_ms=1), 9)
    assert not any(isinstance(effect, Reply) for effect in s.outbox.drain())


def test_a_response_with_a_failing_callback_counts_as_none() -> None:
    peer, outbox = Endpoint("peer", 1), Outbox()
    requester = Requester("me", outbox, Failures(outbox, OnFailure.CONTINUE))
    told: list[Message | None] = []

    def on_reply(now: Instant, reply: Message | None) -> None:
        told.append(reply)
        if reply is not None:
            raise Bug

    requester.send(0, peer, "c", ApiVersionsRequest(), 0, on_reply, timeout_ms=10)
    frame = encode_response(ApiVersionsResponse(), 0, correlation_id=0)
    requester.on_response(0, OutboundLink(peer, "c"), frame)
    assert isinstance(told[0], ApiVersionsResponse) and told[1:] == [None]


@pytest.mark.parametrize("ends", ["timeout", "link closed"])
def test_a_failing_callback_at_the_end_of_a_link_affects_no_other_request(ends: str) -> None:
    peer, outbox = Endpoint("peer", 1), Outbox()
    failures = Failures(outbox, OnFailure.CONTINUE)
    requester = Requester("me", outbox, failures)
    told: list[Message | None] = []
    for on_reply in (fail, lambda _, reply: told.append(reply), fail, lambda _, reply: told.append(reply)):
        requester.send(0, peer, "c", ApiVersionsRequest(), 0, on_reply, timeout_ms=10)
    if ends == "timeout":
        requester.on_timeout(10, 0)
    else:
        requester.on_link_closed(5, OutboundLink(peer, "c"))
    assert told == [None, None] and failures.count == 2


def fail(*_: object) -> bool:
    raise Bug


def test_a_timer_with_failed_work_fires_again() -> None:
    outbox = Outbox()
    Failures(outbox, OnFailure.CONTINUE).process(5, TimerFired(("tick",)), fail, lambda _: False)
    assert SetTimer(("tick",), 5 + SECOND) in outbox.drain()


def test_follow_up_work_is_tried_although_the_event_failed() -> None:
    outbox = Outbox()
    failures = Failures(outbox, OnFailure.CONTINUE)
    left = [fail, lambda _: True, lambda _: False]
    failures.process(0, Started(), fail, lambda now: left.pop(0)(now))
    assert left == [] and failures.count == 2


def test_work_that_always_fails_is_given_up() -> None:
    failures = Failures(Outbox(), OnFailure.CONTINUE)
    failures.process(0, Started(), lambda *_: None, fail)
    assert failures.count == FOLLOW_UPS_MAX
