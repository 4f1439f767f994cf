"""SaslAuthenticateResponse: response, key 36, versions 0-2, flexible from 2.

Generated from schemas/kafka/SaslAuthenticateResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class SaslAuthenticateResponse(Message):
    """SaslAuthenticateResponse, versions 0-2."""

    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    auth_bytes: bytes = b""  # bytes
    session_lifetime_ms: int = 0  # int64, v1+, ignorable

    NAME: ClassVar[str] = "SaslAuthenticateResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 36
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 2), nullable=(0, 2), default=""),
        Field("AuthBytes", "auth_bytes", "bytes", (0, 2), default=b""),
        Field("SessionLifetimeMs", "session_lifetime_ms", "int64", (1, 2), default=0, ignorable=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        (wire.put_compact_bytes if version >= 2 else wire.put_bytes)(put, self.auth_bytes)
        if version >= 1:
            put(wire.pack_int64(self.session_lifetime_ms))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SaslAuthenticateResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        self.auth_bytes, pos = (wire.read_compact_bytes if version >= 2 else wire.read_bytes)(buf, pos)
        if version >= 1:
            (self.session_lifetime_ms,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.session_lifetime_ms = 0
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
