"""SaslHandshakeResponse: response, key 17, versions 0-1, never flexible.

Generated from schemas/kafka/SaslHandshakeResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class SaslHandshakeResponse(Message):
    """SaslHandshakeResponse, versions 0-1."""

    __slots__ = ("error_code", "mechanisms")

    NAME = "SaslHandshakeResponse"
    TYPE = "response"
    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("Mechanisms", "mechanisms", "string", (0, 1), is_array=True, default=[]),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        mechanisms: list[str] = UNSET,  # []string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.mechanisms = [] if mechanisms is UNSET else mechanisms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put(wire.count(self.mechanisms))
        for text in self.mechanisms:
            put(wire.string(text))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SaslHandshakeResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = wire.read_count(buf, pos, 2)
        self.mechanisms, pos = wire.read_many(wire.read_string, buf, pos, n)
        return self, pos
