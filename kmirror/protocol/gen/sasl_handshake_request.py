"""SaslHandshakeRequest: request, key 17, versions 0-1, never flexible.

Generated from schemas/kafka/SaslHandshakeRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class SaslHandshakeRequest(Message):
    """SaslHandshakeRequest, versions 0-1."""

    __slots__ = ("mechanism",)

    NAME = "SaslHandshakeRequest"
    TYPE = "request"
    API_KEY = 17
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("Mechanism", "mechanism", "string", (0, 1), default=""),
    )

    def __init__(
        self,
        mechanism: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mechanism = mechanism
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.mechanism))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SaslHandshakeRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mechanism, pos = wire.read_string(buf, pos)
        return self, pos
