"""Requests and responses with their headers, and frames out of a byte stream."""

from __future__ import annotations

import pytest

from kmirror.errors import LocalProtocolError, ProtocolError, UsageError
from kmirror.protocol import FetchRequest, FetchResponse, RequestHeader, UnknownTag, headers
from kmirror.protocol.frames import FrameReader, add_length
from kmirror.protocol.gen.api_versions_request import ApiVersionsRequest
from kmirror.protocol.gen.api_versions_response import ApiVersion, ApiVersionsResponse
from kmirror.protocol.negotiate import negotiate, negotiate_all
from kmirror.protocol.registry import all_apis, by_api_name, by_key, by_name, find_key


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


def test_the_answer_to_api_versions_has_always_the_oldest_header() -> None:
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
    with pytest.raises(ProtocolError, match="FetchRequest has no version 99"):
        headers.decode_request(frame)


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


def test_what_is_no_request_is_not_sent_as_one() -> None:
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


class TestRegistry:
    def test_by_key_and_name(self) -> None:
        api = by_key(1)
        assert (api.name, api.min_version, api.max_version, api.flexible_from) == ("Fetch", 4, 19, 12)
        assert api.request is FetchRequest is by_name("FetchRequest")
        assert api.response is FetchResponse
        assert api.listeners == ("broker", "controller")
        assert by_api_name("fetch") is by_api_name("Fetch") is api
        assert by_api_name("api-versions").key == 18

    def test_unknown_ones(self) -> None:
        assert find_key(4) is None
        with pytest.raises(UsageError, match="API key 4 was LeaderAndIsr"):
            by_key(4)
        with pytest.raises(UsageError, match="no API has the key 9999"):
            by_key(9999)
        with pytest.raises(UsageError, match="no message is named"):
            by_name("Nothing")
        with pytest.raises(UsageError, match="no API is named"):
            by_api_name("Nothing")

    def test_all_apis_have_two_halves_of_the_same_versions(self) -> None:
        apis = all_apis()
        assert len(apis) == 93 - 4 + 11
        for api in apis:
            for half in (api.request, api.response):
                assert (api.min_version, api.max_version) == (half.MIN_VERSION, half.MAX_VERSION)
                assert api.key == half.API_KEY

    def test_unstable_versions_are_offered_on_request_only(self) -> None:
        unstable = by_api_name("InitProducerId")
        assert unstable.advertised_max(unstable=True) == unstable.max_version == 6
        assert unstable.advertised_max(unstable=False) == 5
        assert by_api_name("CreateMirror").advertised_max(unstable=False) == -1
        assert by_api_name("Fetch").advertised_max(unstable=False) == 19


class TestNegotiate:
    def test_the_newest_shared_version(self) -> None:
        assert negotiate((4, 19), (0, 11)) == 11
        assert negotiate((4, 19), (19, 25)) == 19
        assert negotiate((4, 19), (20, 25)) is None
        assert negotiate((4, 19), (0, 3)) is None

    def test_tables(self) -> None:
        assert negotiate_all({1: (4, 19), 2: (1, 9), 3: (0, 1)}, {1: (0, 11), 2: (10, 11), 9: (0, 0)}) == {1: 11}


class TestFrames:
    def test_any_cut_of_the_stream_gives_the_same_frames(self) -> None:
        sent = [b"", b"a", b"bc" * 100, b"\0\0\0\1"]
        stream = b"".join(add_length(frame) for frame in sent)
        for step in (1, 2, 3, 5, 7, 1000):
            reader = FrameReader()
            found = [f for i in range(0, len(stream), step) for f in reader.feed(stream[i : i + step])]
            assert found == sent
            assert reader.held_bytes == 0
            assert reader.position == len(stream)

    def test_a_length_beyond_the_limit_is_refused_at_its_fourth_byte(self) -> None:
        reader = FrameReader(max_bytes=10)
        assert reader.feed(add_length(b"x" * 10)) == [b"x" * 10]
        assert reader.feed(b"\0\0\0") == []
        with pytest.raises(ProtocolError, match="a frame of 11 bytes: 0 to 10 are allowed") as caught:
            reader.feed(b"\x0b")
        assert (caught.value.position, caught.value.field) == (14, "length")

    def test_a_negative_length_is_refused(self) -> None:
        with pytest.raises(ProtocolError, match="a frame of -1 bytes"):
            FrameReader().feed(b"\xff\xff\xff\xff")
