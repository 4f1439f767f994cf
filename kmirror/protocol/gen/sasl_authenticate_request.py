"""SaslAuthenticateRequest: request, key 36, versions 0-2, flexible from 2.

Generated from schemas/kafka/SaslAuthenticateRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class SaslAuthenticateRequest(Message):
    """SaslAuthenticateRequest, versions 0-2."""

    auth_bytes: bytes = b""  # bytes

    NAME: ClassVar[str] = "SaslAuthenticateRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("AuthBytes", "auth_bytes", "bytes", (0, 2), default=b""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        (wire.put_compact_bytes if version >= 2 else wire.put_bytes)(put, self.auth_bytes)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SaslAuthenticateRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.auth_bytes, pos = (wire.read_compact_bytes if version >= 2 else wire.read_bytes)(buf, pos)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
