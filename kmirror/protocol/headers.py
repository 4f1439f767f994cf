"""Requests and responses with their headers. A frame here has no length prefix: `frames` cuts and adds that.

A request's header has the API key and version, a response's only the correlation id: to read a response, one
must remember what was asked.
"""

from __future__ import annotations

from typing import NamedTuple

from kmirror.errors import LocalProtocolError, ProtocolError
from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.registry import Api, find_key
from kmirror.protocol.wire import Buffer, Chunk


class RequestHead(NamedTuple):
    """What the header of a request says, and where its body begins."""

    api_key: int
    api_version: int
    correlation_id: int
    client_id: str | None
    body_position: int


class DecodedRequest(NamedTuple):
    """A request: header and body."""

    head: RequestHead
    body: Message


class DecodedResponse(NamedTuple):
    """A response: the correlation id of its request, and the body."""

    correlation_id: int
    body: Message


_unpack_head, _pack_head = wire.fused("hhi")


def _api_of(body: Message, kind: str) -> Api:
    api = None if body.API_KEY is None else find_key(body.API_KEY)
    if api is None or kind != body.TYPE:
        raise LocalProtocolError(f"{body.NAME} is no {kind}")
    return api


def encode_request_chunks(body: Message, version: int, *, correlation_id: int, client_id: str | None) -> list[Chunk]:
    """Return header and body as buffers to be sent one after the other; records are among them uncopied."""
    api = _api_of(body, "request")
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
    """Return what the header says; the body is not looked at, and key and version need not be known ones."""
    try:
        key, version, correlation_id = _unpack_head(frame, 0)
        client_id, position = wire.read_nullable_string(frame, 8)
        api = find_key(key)
        if api is not None and api.is_flexible(version):
            position = _skip_tags(frame, position)
        if position > len(frame):
            raise wire.Malformed
    except wire.READ_ERRORS:
        return _careful_head(frame)
    return RequestHead(key, version, correlation_id, client_id, position)


def _skip_tags(frame: Buffer, position: int) -> int:
    if frame[position] == 0:
        return position + 1
    n, position = wire.read_uvarint(frame, position)
    for _ in range(n):
        _, size, position = wire.read_tag_head(frame, position)
        if size < 0 or position + size > len(frame):
            raise wire.Malformed
        position += size
    return position


def _careful_head(frame: Buffer) -> RequestHead:
    """Return the header by its field table, which explains what is wrong."""
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
    """Return header and body; raises `ProtocolError` if API or version is not known, or the bytes are malformed."""
    head = peek_request(frame)
    api = find_key(head.api_key)
    if api is None:
        raise ProtocolError(f"no API has the key {head.api_key}", position=0, field="request_api_key")
    body, _ = api.request.decode_prefix(frame, head.api_version, head.body_position)
    return DecodedRequest(head, body)


def encode_response_chunks(body: Message, version: int, *, correlation_id: int) -> list[Chunk]:
    """Return header and body as buffers to be sent one after the other; records are among them uncopied."""
    api = _api_of(body, "response")
    try:
        head = wire.pack_int32(correlation_id)
    except wire.WRITE_ERRORS as error:
        raise LocalProtocolError(f"response header: {error}") from None
    if api.response_header_version(version) == 1:
        head += b"\0"
    return [head, *body.encode_chunks(version)]


def encode_response(body: Message, version: int, *, correlation_id: int) -> bytes:
    """Return the frame of a response; raises `LocalProtocolError` if the version cannot carry it."""
    return b"".join(encode_response_chunks(body, version, correlation_id=correlation_id))


def decode_response(frame: Buffer, api_key: int, version: int) -> DecodedResponse:
    """Return the answer to a request of this key and version; raises `ProtocolError` if the bytes are malformed."""
    api = find_key(api_key)
    if api is None:
        raise ProtocolError(f"no API has the key {api_key}")
    try:
        (correlation_id,) = wire.unpack_int32(frame, 0)
        position = 4
        if api.response_header_version(version) == 1:
            position = _skip_tags(frame, position)
    except wire.READ_ERRORS:
        from kmirror.protocol import careful
        from kmirror.protocol.gen.response_header import ResponseHeader

        header, position = careful.decode(ResponseHeader, frame, api.response_header_version(version))
        correlation_id = header.correlation_id
    body, _ = api.response.decode_prefix(frame, version, position)
    return DecodedResponse(correlation_id, body)
