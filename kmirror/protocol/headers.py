"""Requests and responses with their headers. Frames here have no length prefix; `frames` removes and adds it.

A request header has the API key and version, a response header only the correlation id. To decode a response, the
caller must remember the key and version of the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.registry import by_key, find_key, find_request, find_response
from kmirror.protocol.structs import no_version
from kmirror.protocol.wire import Buffer, Chunk


class RequestHead(NamedTuple):
    """Fields of a request header, and the position of the body."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body_position: int


class ResponseHead(NamedTuple):
    """Fields of a response header, and the position of the body."""

    correlation_id: int
    body_position: int


class DecodedRequest(NamedTuple):
    """A decoded request: header and body."""

    head: RequestHead
    body: Message


class DecodedResponse(NamedTuple):
    """A decoded response: the correlation id of its request, and the body."""

    correlation_id: int
    body: Message


_pack_head = wire.fused("hhi")[1]
_unpack_head = wire.fused("hhih")[0]  # The last field is the size of the client id, -1 for none.
_HEAD_BYTES = 10
_unpack_key = wire.fused("hh")[0]
_VERSION_MAX = 32
"""Greater than the number of versions of any API; see `is_request`."""


def encode_request_chunks(body: Message, version: int, *, correlation_id: int, client_id: str | None) -> list[Chunk]:
    """Return header and body as buffers to be sent in order; records are not copied."""
    if body.API_KEY is None or body.TYPE != "request":
        raise LocalProtocolError(f"{body.NAME} is no request")
    api = by_key(body.API_KEY)
    try:
        head = _pack_head(api.key, version, correlation_id) + wire.nullable_string(client_id)
    except wire.WRITE_ERRORS as error:
        raise LocalProtocolError(f"request header: {error}") from None
    if api.is_flexible(version):
        head += b"\0"
    return [head, *body.encode_chunks(version)]


def encode_request(body: Message, version: int, *, correlation_id: int, client_id: str | None) -> bytes:
    """Return the frame of a request; raises `LocalProtocolError` if the version cannot carry it."""
    return b"".join(encode_request_chunks(body, version, correlation_id=correlation_id, client_id=client_id))


def peek_request(frame: Buffer) -> RequestHead:
    """Return the request header; the body is not read, and API key and version may be unknown."""
    try:
        key, version, correlation_id, size = _unpack_head(frame, 0)
        client_id, position = None, _HEAD_BYTES
        if size >= 0:
            position += size
            client_id = str(frame[_HEAD_BYTES:position], "utf-8")
        api = find_key(key)
        if api is not None and api.flexible_from is not None and version >= api.flexible_from:
            position = position + 1 if frame[position] == 0 else _skip_tags(frame, position)
        if position > len(frame):
            raise wire.Malformed
    except wire.READ_ERRORS:
        return _decode_head_carefully(frame)
    return RequestHead(key, version, correlation_id, client_id, position)


def is_request(frame: Buffer) -> bool:
    """Return whether a frame starts like a request, unlike the bare SASL tokens after a SaslHandshake v0.

    Such a token starts with text or an ASN.1 tag, which is not a valid API key and version.
    """
    if len(frame) < 8:
        return False
    key, version = _unpack_key(frame, 0)
    return find_key(key) is not None and 0 <= version < _VERSION_MAX


def try_peek_request(frame: Buffer) -> RequestHead | None:
    """Return the header of a request; None for a frame that is no request or has an invalid header."""
    try:
        return peek_request(frame) if is_request(frame) else None
    except ProtocolError:
        return None


def _skip_tags(frame: Buffer, position: int) -> int:
    n, position = wire.read_uvarint(frame, position)
    for _ in range(n):
        _, size, position = wire.read_tag_head(frame, position)
        if size < 0 or position + size > len(frame):
            raise wire.Malformed
        position += size
    return position


def _decode_head_carefully(frame: Buffer) -> RequestHead:
    """Decode the header with its field table, for a precise error."""
    from kmirror.protocol import careful
    from kmirror.protocol.gen.request_header import RequestHeader

    version = 1
    if len(frame) >= 4:
        key, api_version = wire.fused("hh")[0](frame, 0)
        api = find_key(key)
        version = 1 if api is None else api.request_header_version(api_version)
    header, position = careful.decode(RequestHeader, frame, version)
    return RequestHead(
        header.request_api_key, header.request_api_version, header.correlation_id, header.client_id, position
    )


def decode_request(frame: Buffer) -> DecodedRequest:
    """Return header and body; raises `ProtocolError` if API or version is unknown, or the bytes are malformed."""
    head = peek_request(frame)
    return DecodedRequest(head, decode_request_body(frame, head))


def decode_served(frame: Buffer, served_versions: Mapping[int, tuple[int, int]]) -> tuple[RequestHead, Message | None]:
    """Return header and body; the body is None, and not looked at, if `served_versions` lacks the API or version."""
    head = peek_request(frame)
    return head, decode_request_body(frame, head) if is_served(head, served_versions) else None


def is_served(head: RequestHead, served_versions: Mapping[int, tuple[int, int]]) -> bool:
    """Return whether `served_versions`, API key to (first, last) version, has the API and version of a request."""
    found = served_versions.get(head.api_key)
    return found is not None and found[0] <= head.api_version <= found[1]


def decode_request_body(frame: Buffer, head: RequestHead) -> Message:
    """Return the body of a request with the header `head` from `peek_request`; raises like `decode_request`."""
    request = find_request(head.api_key)
    if request is None:
        raise ProtocolError(f"no API has the key {head.api_key}", position=0, field="request_api_key")
    if not request.MIN_VERSION <= head.api_version <= request.MAX_VERSION:
        raise ProtocolError(no_version(request, head.api_version), position=2, field="request_api_version")
    return request.decode_prefix(frame, head.api_version, head.body_position)[0]


def encode_response_chunks(body: Message, version: int, *, correlation_id: int) -> list[Chunk]:
    """Return header and body as buffers to be sent in order; records are not copied."""
    if body.API_KEY is None or body.TYPE != "response":
        raise LocalProtocolError(f"{body.NAME} is no response")
    head = encode_response_head(body.API_KEY, version, correlation_id=correlation_id)
    return [head, *body.encode_chunks(version)]


def encode_response_head(api_key: int, version: int, *, correlation_id: int) -> bytes:
    """Return the header of a response."""
    try:
        return wire.pack_int32(correlation_id) + _response_tags(api_key, version)
    except wire.WRITE_ERRORS as error:
        raise LocalProtocolError(f"response header: {error}") from None


@cache
def _response_tags(key: int, version: int) -> bytes:
    """Return the rest of a response header after the correlation id: an empty tagged section in flexible versions."""
    return b"\0" if by_key(key).response_header_version(version) == 1 else b""


def encode_response(body: Message, version: int, *, correlation_id: int) -> bytes:
    """Return the frame of a response; raises `LocalProtocolError` if the version cannot carry it."""
    return b"".join(encode_response_chunks(body, version, correlation_id=correlation_id))


def peek_response(frame: Buffer, api_key: int, version: int) -> ResponseHead:
    """Return the response header; the body is not read. Raises `ProtocolError`."""
    tags = _response_tags(api_key, version)
    try:
        (correlation_id,) = wire.unpack_int32(frame, 0)
        position = 4
        if tags:
            position = position + 1 if frame[position] == 0 else _skip_tags(frame, position)
    except wire.READ_ERRORS:
        from kmirror.protocol import careful
        from kmirror.protocol.gen.response_header import ResponseHeader

        header, position = careful.decode(ResponseHeader, frame, len(tags))
        correlation_id = header.correlation_id
    return ResponseHead(correlation_id, position)


def decode_response(frame: Buffer, api_key: int, version: int) -> DecodedResponse:
    """Return the response to a request of this key and version; raises `ProtocolError` if the bytes are malformed."""
    return DecodedResponse(int.from_bytes(frame[:4], "big", signed=True), decode_response_body(frame, api_key, version))


def decode_response_body(frame: Buffer, api_key: int, version: int) -> Message:
    """Return only the body of a response; raises like `decode_response`."""
    response = find_response(api_key)
    if response is None:
        raise ProtocolError(f"no API has the key {api_key}")
    position = 4 + len(_response_tags(api_key, version))
    if len(frame) < position or (position == 5 and frame[4]):  # Too short, or with tags in its header.
        position = peek_response(frame, api_key, version).body_position
    return response.decode_prefix(frame, version, position)[0]
