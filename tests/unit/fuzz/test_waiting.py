"""Requests that may have no response: a Produce with acks=0, and requests that wait for others, up to their timeout."""

from __future__ import annotations

import socket

import pytest

from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.responses import judge_response, may_block
from kmirror.fuzz.stream import Frame
from kmirror.fuzz.targets import tcp
from kmirror.protocol.gen.fetch_request import FetchRequest
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.gen.produce_response import ProduceResponse
from kmirror.protocol.headers import encode_request, encode_response
from kmirror.protocol.message import Message

VERSION = 9


def framed(body: Message, version: int = VERSION) -> bytes:
    return encode_request(body, version, correlation_id=7, client_id="fuzz")


@pytest.mark.parametrize(
    ("acks", "timeout_ms", "waits"),
    [
        (0, 0, True),
        (1, 1_000, False),
        (1, 60_000, False),
        (-1, 1_000, False),
        (-1, 60_000, True),
        (-1, -1, False),
        (7, 60_000, False),
    ],
)
def test_a_produce_waits_with_acks_0_and_with_acks_all_up_to_its_timeout(
    acks: int, timeout_ms: int, waits: bool
) -> None:
    frame = framed(ProduceRequest(acks=acks, timeout_ms=timeout_ms))
    assert may_block(frame, 15) is waits
    assert may_block(frame + b"more", 15) is waits


def test_only_requests_that_wait_for_others_may_have_no_response() -> None:
    assert may_block(framed(FetchRequest(), 12), 15)
    assert not may_block(framed(HeartbeatRequest(), 0), 15)
    assert may_block(framed(ProduceRequest(acks=1))[:-3], 15), "others may read acks=0 in what we cannot read"


def test_a_response_to_acks_0_is_a_finding() -> None:
    response = encode_response(ProduceResponse(), VERSION, correlation_id=7)
    assert judge_response(framed(ProduceRequest(acks=1)), response) == "taken"
    with pytest.raises(Fault, match="acks=0 is answered"):
        judge_response(framed(ProduceRequest(acks=0)), response)


def test_a_produce_without_a_response_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tcp, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(tcp, "KNOWN_TIMEOUT_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        target = tcp.BrokerTarget(*mute.getsockname())
        outcomes = []
        for acks in (0, 1, 1):
            data = framed(ProduceRequest(acks=acks))
            try:
                outcomes.append(target.judge(Frame(0, "ProduceRequest", VERSION, data, (), is_canonical=True)))
            except Fault as fault:
                outcomes.append(fault.kind)
        target.close()
    assert outcomes == ["waits", FaultKind.SILENT, FaultKind.SILENT]
