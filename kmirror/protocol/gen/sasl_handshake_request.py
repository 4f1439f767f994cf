"""SaslHandshakeRequest: request, key 17, versions 0-1, never flexible.

Generated from schemas/kafka/SaslHandshakeRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class SaslHandshakeRequest(Message):
    """SaslHandshakeRequest, versions 0-1."""

    mechanism: str = ""  # string

    NAME: ClassVar[str] = "SaslHandshakeRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Mechanism", "mechanism", "string", (0, 1), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.mechanism))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SaslHandshakeRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.mechanism, pos = wire.read_string(buf, pos)
        return self, pos
