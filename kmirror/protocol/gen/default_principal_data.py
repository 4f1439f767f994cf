"""DefaultPrincipalData: data, versions 0, flexible from 0.

Generated from schemas/kafka/DefaultPrincipalData.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DefaultPrincipalData(Message):
    """DefaultPrincipalData, versions 0."""

    type: str = ""  # string
    name: str = ""  # string
    token_authenticated: bool = False  # bool

    NAME: ClassVar[str] = "DefaultPrincipalData"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Type", "type", "string", (0, 0), default=""),
        Field("Name", "name", "string", (0, 0), default=""),
        Field("TokenAuthenticated", "token_authenticated", "bool", (0, 0), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.type))
        put(wire.compact_string(self.name))
        put(wire.pack_bool(self.token_authenticated))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DefaultPrincipalData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.type, pos = wire.read_compact_string(buf, pos)
        self.name, pos = wire.read_compact_string(buf, pos)
        (self.token_authenticated,) = wire.unpack_bool(buf, pos)
        pos += 1
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
