"""RequestHeader: header, versions 1-2, flexible from 2.

Generated from schemas/kafka/RequestHeader.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_hhi, pack_hhi = wire.fused("hhi")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class RequestHeader(Message):
    """RequestHeader, versions 1-2."""

    request_api_key: int = 0  # int16
    request_api_version: int = 0  # int16
    correlation_id: int = 0  # int32
    client_id: str | None = ""  # string

    NAME: ClassVar[str] = "RequestHeader"
    TYPE: ClassVar[str] = "header"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("RequestApiKey", "request_api_key", "int16", (1, 2), default=0),
        Field("RequestApiVersion", "request_api_version", "int16", (1, 2), default=0),
        Field("CorrelationId", "correlation_id", "int32", (1, 2), default=0),
        Field("ClientId", "client_id", "string", (1, 2), nullable=(1, 2), default="", never_flexible=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hhi(self.request_api_key, self.request_api_version, self.correlation_id))
        put(wire.nullable_string(self.client_id))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RequestHeader, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.request_api_key, self.request_api_version, self.correlation_id = unpack_hhi(buf, pos)
        pos += 8
        self.client_id, pos = wire.read_nullable_string(buf, pos)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
