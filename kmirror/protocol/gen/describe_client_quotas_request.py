"""DescribeClientQuotasRequest: request, key 48, versions 0-1, flexible from 1.

Generated from schemas/kafka/DescribeClientQuotasRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ComponentData(Struct):
    """Part of DescribeClientQuotasRequest."""

    entity_type: str = ""  # string
    match_type: int = 0  # int8
    match: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("EntityType", "entity_type", "string", (0, 1), default=""),
        Field("MatchType", "match_type", "int8", (0, 1), default=0),
        Field("Match", "match", "string", (0, 1), nullable=(0, 1), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.entity_type))
        put(wire.pack_int8(self.match_type))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.match))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ComponentData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.entity_type, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        (self.match_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.match, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeClientQuotasRequest(Message):
    """DescribeClientQuotasRequest, versions 0-1."""

    components: list[ComponentData] = field(default_factory=list)  # []ComponentData
    strict: bool = False  # bool

    NAME: ClassVar[str] = "DescribeClientQuotasRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 48
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Components", "components", "struct", (0, 1), is_array=True, default=[], struct=ComponentData),
        Field("Strict", "strict", "bool", (0, 1), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.components))
        for component_data in self.components:
            component_data._write(put, version)
        put(wire.pack_bool(self.strict))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeClientQuotasRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 4)
        self.components, pos = wire.read_structs(ComponentData._read, buf, pos, n, version)
        (self.strict,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
