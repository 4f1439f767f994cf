"""ResponseHeader: header, versions 0-1, flexible from 1.

Generated from schemas/kafka/ResponseHeader.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ResponseHeader(Message):
    """ResponseHeader, versions 0-1."""

    correlation_id: int = 0  # int32

    NAME: ClassVar[str] = "ResponseHeader"
    TYPE: ClassVar[str] = "header"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("CorrelationId", "correlation_id", "int32", (0, 1), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.correlation_id))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ResponseHeader, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.correlation_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
