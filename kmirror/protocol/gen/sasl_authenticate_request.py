"""SaslAuthenticateRequest: request, key 36, versions 0-2, flexible from 2.

Generated from schemas/kafka/SaslAuthenticateRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class SaslAuthenticateRequest(Message):
    """SaslAuthenticateRequest, versions 0-2."""

    __slots__ = ("auth_bytes",)

    NAME = "SaslAuthenticateRequest"
    TYPE = "request"
    API_KEY = 36
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("AuthBytes", "auth_bytes", "bytes", (0, 2), default=b""),
    )

    def __init__(
        self,
        auth_bytes: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.auth_bytes = auth_bytes
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        (wire.put_compact_bytes if version >= 2 else wire.put_bytes)(put, self.auth_bytes)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SaslAuthenticateRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.auth_bytes, pos = (wire.read_compact_bytes if version >= 2 else wire.read_bytes)(buf, pos)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
