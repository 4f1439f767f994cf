"""RequestHeader: header, versions 1-2, flexible from 2.

Generated from schemas/kafka/RequestHeader.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_hhi, pack_hhi = wire.fused("hhi")


class RequestHeader(Message):
    """RequestHeader, versions 1-2."""

    __slots__ = ("request_api_key", "request_api_version", "correlation_id", "client_id")

    NAME = "RequestHeader"
    TYPE = "header"
    API_KEY = None
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("RequestApiKey", "request_api_key", "int16", (1, 2), default=0),
        Field("RequestApiVersion", "request_api_version", "int16", (1, 2), default=0),
        Field("CorrelationId", "correlation_id", "int32", (1, 2), default=0),
        Field("ClientId", "client_id", "string", (1, 2), nullable=(1, 2), default="", never_flexible=True),
    )

    def __init__(
        self,
        request_api_key: int = 0,  # int16
        request_api_version: int = 0,  # int16
        correlation_id: int = 0,  # int32
        client_id: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.request_api_key = request_api_key
        self.request_api_version = request_api_version
        self.correlation_id = correlation_id
        self.client_id = client_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hhi(self.request_api_key, self.request_api_version, self.correlation_id))
        put(wire.nullable_string(self.client_id))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RequestHeader, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.request_api_key, self.request_api_version, self.correlation_id = unpack_hhi(buf, pos)
        pos += 8
        self.client_id, pos = wire.read_nullable_string(buf, pos)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
