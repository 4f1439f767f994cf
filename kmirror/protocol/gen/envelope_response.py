"""EnvelopeResponse: response, key 58, versions 0, flexible from 0.

Generated from schemas/kafka/EnvelopeResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class EnvelopeResponse(Message):
    """EnvelopeResponse, versions 0."""

    __slots__ = ("response_data", "error_code")

    NAME = "EnvelopeResponse"
    TYPE = "response"
    API_KEY = 58
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ResponseData", "response_data", "bytes", (0, 0), nullable=(0, 0)),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        response_data: bytes | None = None,  # bytes
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.response_data = response_data
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        wire.put_compact_nullable_bytes(put, self.response_data)
        put(wire.pack_int16(self.error_code))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EnvelopeResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.response_data, pos = wire.read_compact_nullable_bytes(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
