"""SaslHandshakeResponse: response, key 17, versions 0-1, never flexible.

Generated from schemas/kafka/SaslHandshakeResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class SaslHandshakeResponse(Message):
    """SaslHandshakeResponse, versions 0-1."""

    error_code: int = 0  # int16
    mechanisms: list[str] = field(default_factory=list)  # []string

    NAME: ClassVar[str] = "SaslHandshakeResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("Mechanisms", "mechanisms", "string", (0, 1), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put(wire.count(self.mechanisms))
        for text in self.mechanisms:
            put(wire.string(text))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SaslHandshakeResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = wire.read_count(buf, pos, 2)
        self.mechanisms, pos = wire.read_many(wire.read_string, buf, pos, n)
        return self, pos
