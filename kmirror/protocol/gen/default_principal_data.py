"""DefaultPrincipalData: data, versions 0, flexible from 0.

Generated from schemas/kafka/DefaultPrincipalData.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class DefaultPrincipalData(Message):
    """DefaultPrincipalData, versions 0."""

    __slots__ = ("type", "name", "token_authenticated")

    NAME = "DefaultPrincipalData"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Type", "type", "string", (0, 0), default=""),
        Field("Name", "name", "string", (0, 0), default=""),
        Field("TokenAuthenticated", "token_authenticated", "bool", (0, 0), default=False),
    )

    def __init__(
        self,
        type: str = "",  # string
        name: str = "",  # string
        token_authenticated: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.type = type
        self.name = name
        self.token_authenticated = token_authenticated
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.type))
        put(wire.compact_string(self.name))
        put(wire.pack_bool(self.token_authenticated))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DefaultPrincipalData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.type, pos = wire.read_compact_string(buf, pos)
        self.name, pos = wire.read_compact_string(buf, pos)
        (self.token_authenticated,) = wire.unpack_bool(buf, pos)
        pos += 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
