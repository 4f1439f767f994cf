"""EnvelopeResponse: response, key 58, versions 0, flexible from 0.

Generated from schemas/kafka/EnvelopeResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class EnvelopeResponse(Message):
    """EnvelopeResponse, versions 0."""

    response_data: bytes | None = None  # bytes
    error_code: int = 0  # int16

    NAME: ClassVar[str] = "EnvelopeResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 58
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ResponseData", "response_data", "bytes", (0, 0), nullable=(0, 0)),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        wire.put_compact_nullable_bytes(put, self.response_data)
        put(wire.pack_int16(self.error_code))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EnvelopeResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.response_data, pos = wire.read_compact_nullable_bytes(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
