"""ResponseHeader: header, versions 0-1, flexible from 1.

Generated from schemas/kafka/ResponseHeader.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ResponseHeader(Message):
    """ResponseHeader, versions 0-1."""

    __slots__ = ("correlation_id",)

    NAME = "ResponseHeader"
    TYPE = "header"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("CorrelationId", "correlation_id", "int32", (0, 1), default=0),
    )

    def __init__(
        self,
        correlation_id: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.correlation_id = correlation_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.correlation_id))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ResponseHeader, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.correlation_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
