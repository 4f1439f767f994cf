"""SaslAuthenticateResponse: response, key 36, versions 0-2, flexible from 2.

Generated from schemas/kafka/SaslAuthenticateResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class SaslAuthenticateResponse(Message):
    """SaslAuthenticateResponse, versions 0-2."""

    __slots__ = ("error_code", "error_message", "auth_bytes", "session_lifetime_ms")

    NAME = "SaslAuthenticateResponse"
    TYPE = "response"
    API_KEY = 36
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 2), nullable=(0, 2), default=""),
        Field("AuthBytes", "auth_bytes", "bytes", (0, 2), default=b""),
        Field("SessionLifetimeMs", "session_lifetime_ms", "int64", (1, 2), default=0, ignorable=True),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        auth_bytes: bytes = b"",  # bytes
        session_lifetime_ms: int = 0,  # int64, v1+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.auth_bytes = auth_bytes
        self.session_lifetime_ms = session_lifetime_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        (wire.put_compact_bytes if version >= 2 else wire.put_bytes)(put, self.auth_bytes)
        if version >= 1:
            put(wire.pack_int64(self.session_lifetime_ms))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SaslAuthenticateResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
