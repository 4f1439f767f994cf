"""EnvelopeRequest: request, key 58, versions 0, flexible from 0.

Generated from schemas/kafka/EnvelopeRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class EnvelopeRequest(Message):
    """EnvelopeRequest, versions 0."""

    __slots__ = ("request_data", "request_principal", "client_host_address")

    NAME = "EnvelopeRequest"
    TYPE = "request"
    API_KEY = 58
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("RequestData", "request_data", "bytes", (0, 0), default=b""),
        Field("RequestPrincipal", "request_principal", "bytes", (0, 0), nullable=(0, 0), default=b""),
        Field("ClientHostAddress", "client_host_address", "bytes", (0, 0), default=b""),
    )

    def __init__(
        self,
        request_data: bytes = b"",  # bytes
        request_principal: bytes | None = b"",  # bytes
        client_host_address: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.request_data = request_data
        self.request_principal = request_principal
        self.client_host_address = client_host_address
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        wire.put_compact_bytes(put, self.request_data)
        wire.put_compact_nullable_bytes(put, self.request_principal)
        wire.put_compact_bytes(put, self.client_host_address)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EnvelopeRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.request_data, pos = wire.read_compact_bytes(buf, pos)
        self.request_principal, pos = wire.read_compact_nullable_bytes(buf, pos)
        self.client_host_address, pos = wire.read_compact_bytes(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
