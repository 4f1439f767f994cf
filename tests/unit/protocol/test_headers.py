"""Requests and responses with their headers, and frames out of a byte stream."""

from __future__ import annotations

import pytest

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import FetchRequest, FetchResponse, RequestHeader, UnknownTag, headers
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse


@pytest.mark.parametrize("version", [4, 11, 12, 17, 19])
@pytest.mark.parametrize("client_id", [None, "", "me"])
def test_a_request_there_and_back(version: int, client_id: str | None) -> None:
    frame = headers.encode_request(FetchRequest(max_wait_ms=9), version, correlation_id=-5, client_id=client_id)
    head, body = headers.decode_request(frame)
    assert head[:4] == (1, version, -5, client_id)
    assert body == FetchRequest(max_wait_ms=9)
    assert frame[head.body_position :] == body.encode(version)


@pytest.mark.parametrize("version", [4, 11, 12, 19])
def test_a_response_there_and_back(version: int) -> None:
    body = FetchResponse(throttle_time_ms=9)
    frame = headers.encode_response(body, version, correlation_id=7)
    assert headers.decode_response(frame, 1, version) == (7, body)
    assert headers.decode_response(memoryview(frame), 1, version) == (7, body)
    assert len(frame) - len(body.encode(version)) == (5 if version >= 12 else 4)


def test_the_response_to_api_versions_always_has_the_oldest_header() -> None:
    body = ApiVersionsResponse(api_keys=[ApiVersion(api_key=1, min_version=4, max_version=19)])
    for version in range(5):
        frame = headers.encode_response(body, version, correlation_id=7)
        assert frame[4:] == body.encode(version)
        assert headers.decode_response(frame, 18, version).correlation_id == 7
    assert (
        headers.peek_request(
            headers.encode_request(ApiVersionsRequest(), 3, correlation_id=1, client_id="c")
        ).body_position
        == 12
    )


def test_tags_in_a_header_are_passed_over() -> None:
    header = RequestHeader(request_api_key=1, request_api_version=17, correlation_id=3, client_id="c")
    header.unknown_tags = [UnknownTag(0, b"x" * 200), UnknownTag(5, b"")]
    frame = header.encode(2) + FetchRequest(max_wait_ms=9).encode(17)
    head, body = headers.decode_request(frame)
    assert head.body_position == len(header.encode(2))
    assert body == FetchRequest(max_wait_ms=9)


def test_an_unknown_key_or_version_can_be_peeked_but_not_decoded() -> None:
    frame = b"\x7f\xff\x00\x63\x00\x00\x00\x07\x00\x02me" + b"rest"
    assert headers.peek_request(frame) == (0x7FFF, 0x63, 7, "me", 12)
    with pytest.raises(ProtocolError, match="no API has the key 32767"):
        headers.decode_request(frame)
    frame = b"\x00\x01\x00\x63\x00\x00\x00\x07\x00\x02me\x00" + b"rest"
    assert headers.peek_request(frame) == (1, 0x63, 7, "me", 13)
    with pytest.raises(ProtocolError, match="FetchRequest has no version 99") as caught:
        headers.decode_request(frame)
    assert (caught.value.field, caught.value.position) == ("request_api_version", 2)


def test_prefixes_of_a_frame_are_refused() -> None:
    frame = headers.encode_request(FetchRequest(rack_id="r"), 17, correlation_id=5, client_id="client")
    for end in range(len(frame)):
        with pytest.raises(ProtocolError) as caught:
            headers.decode_request(frame[:end])
        assert caught.value.field
        assert caught.value.position is not None
    answer = headers.encode_response(FetchResponse(), 17, correlation_id=5)
    for end in range(len(answer)):
        with pytest.raises(ProtocolError):
            headers.decode_response(answer[:end], 1, 17)


def test_a_response_is_not_sent_as_a_request() -> None:
    with pytest.raises(LocalProtocolError, match="FetchResponse is no request"):
        headers.encode_request(FetchResponse(), 17, correlation_id=1, client_id=None)
    with pytest.raises(LocalProtocolError, match="FetchRequest is no response"):
        headers.encode_response(FetchRequest(), 17, correlation_id=1)
    with pytest.raises(LocalProtocolError, match="request header"):
        headers.encode_request(FetchRequest(), 17, correlation_id=2**31, client_id=None)
    with pytest.raises(LocalProtocolError, match="response header"):
        headers.encode_response(FetchResponse(), 17, correlation_id=2**31)
    with pytest.raises(ProtocolError, match="no API has the key 4"):
        headers.decode_response(bytes(10), 4, 0)
