"""Valid requests for which a broker may close the link."""

from __future__ import annotations

import pytest

from kmirror.fuzz.disconnect_rules import api_versions_request, check_disconnect, read_versions
from kmirror.fuzz.findings import Fault, FaultKind
from kmirror.fuzz.responses import judge_response
from kmirror.fuzz.stream import Frame
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.gen.heartbeat_request import HeartbeatRequest
from kmirror.protocol.gen.heartbeat_response import HeartbeatResponse
from kmirror.protocol.gen.produce_request import ProduceRequest
from kmirror.protocol.headers import encode_request, encode_response
from kmirror.protocol.message import Message
from kmirror.protocol.registry import key_of

LISTED = {key_of(ProduceRequest): (0, 13), key_of(HeartbeatRequest): (1, 3)}


def frame_of(body: Message, version: int, *steps: str) -> Frame:
    data = encode_request(body, version, correlation_id=7, client_id=None)
    return Frame(0, body.NAME, version, data, steps, False)


@pytest.mark.parametrize(
    ("frame", "is_allowed"),
    [
        (frame_of(HeartbeatRequest(), 3), False),
        (frame_of(HeartbeatRequest(), 4), True),
        (frame_of(HeartbeatRequest(), 0), True),
        (frame_of(ApiVersionsRequest(), 0), True),
        (frame_of(HeartbeatRequest(), 3, "a bit"), True),
        (frame_of(ProduceRequest(acks=1), 13), False),
        (frame_of(ProduceRequest(acks=0), 13), True),
    ],
)
def test_a_link_is_closed_for_a_reason(frame: Frame, is_allowed: bool) -> None:
    if is_allowed:
        check_disconnect(frame, LISTED)
        return
    with pytest.raises(
        Fault, match=f"closed over a valid {frame.name.removesuffix('Request')} v{frame.version}"
    ) as found:
        check_disconnect(frame, LISTED)
    assert found.value.kind is FaultKind.REFUSED


def test_served_versions_are_read_from_the_response() -> None:
    rows = [ApiVersion(api_key=key, min_version=low, max_version=high) for key, (low, high) in LISTED.items()]
    response = encode_response(ApiVersionsResponse(api_keys=rows), 0, correlation_id=0)
    assert read_versions(response) == LISTED
    assert judge_response(api_versions_request(), response) == "taken"


def test_a_response_is_read_to_its_end_in_its_version() -> None:
    request = frame_of(HeartbeatRequest(), 4).data
    response = encode_response(HeartbeatResponse(), 4, correlation_id=7)
    assert judge_response(request, response) == "taken"
    with pytest.raises(Fault, match="1 bytes are left over behind the answer of Heartbeat v4"):
        judge_response(request, response + b"\0")
    with pytest.raises(Fault, match="cannot be read"):
        judge_response(request, response[:-1])


def test_only_a_version_that_is_not_supported_is_answered_in_version_0() -> None:
    request = frame_of(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 4).data
    refused = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(api_key=18, min_version=0, max_version=3)])
    assert judge_response(request, encode_response(refused, 0, correlation_id=7)) == "codes 35"
    with pytest.raises(Fault):  # The version was known, so the response uses it.
        judge_response(request, encode_response(ApiVersionsResponse(), 0, correlation_id=7))
