"""EnvelopeRequest: request, key 58, versions 0, flexible from 0.

Generated from schemas/kafka/EnvelopeRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class EnvelopeRequest(Message):
    """EnvelopeRequest, versions 0."""

    request_data: bytes = b""  # bytes
    request_principal: bytes | None = b""  # bytes
    client_host_address: bytes = b""  # bytes

    NAME: ClassVar[str] = "EnvelopeRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 58
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("RequestData", "request_data", "bytes", (0, 0), default=b""),
        Field("RequestPrincipal", "request_principal", "bytes", (0, 0), nullable=(0, 0), default=b""),
        Field("ClientHostAddress", "client_host_address", "bytes", (0, 0), default=b""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        wire.put_compact_bytes(put, self.request_data)
        wire.put_compact_nullable_bytes(put, self.request_principal)
        wire.put_compact_bytes(put, self.client_host_address)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EnvelopeRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.request_data, pos = wire.read_compact_bytes(buf, pos)
        self.request_principal, pos = wire.read_compact_nullable_bytes(buf, pos)
        self.client_host_address, pos = wire.read_compact_bytes(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
