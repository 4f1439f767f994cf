"""AlterClientQuotasRequest: request, key 49, versions 0-1, flexible from 1.

Generated from schemas/kafka/AlterClientQuotasRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_do, pack_do = wire.fused("d?")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class EntityData(Struct):
    """Part of AlterClientQuotasRequest."""

    entity_type: str = ""  # string
    entity_name: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("EntityType", "entity_type", "string", (0, 1), default=""),
        Field("EntityName", "entity_name", "string", (0, 1), nullable=(0, 1), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.entity_type))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.entity_name))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EntityData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.entity_type, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        self.entity_name, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OpData(Struct):
    """Part of AlterClientQuotasRequest."""

    key: str = ""  # string
    value: float = 0.0  # float64
    remove: bool = False  # bool

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Key", "key", "string", (0, 1), default=""),
        Field("Value", "value", "float64", (0, 1), default=0.0),
        Field("Remove", "remove", "bool", (0, 1), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.key))
        put(pack_do(self.value, self.remove))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OpData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.key, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        self.value, self.remove = unpack_do(buf, pos)
        pos += 9
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class EntryData(Struct):
    """Part of AlterClientQuotasRequest."""

    entity: list[EntityData] = field(default_factory=list)  # []EntityData
    ops: list[OpData] = field(default_factory=list)  # []OpData

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Entity", "entity", "struct", (0, 1), is_array=True, default=[], struct=EntityData),
        Field("Ops", "ops", "struct", (0, 1), is_array=True, default=[], struct=OpData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.entity))
        for entity_data in self.entity:
            entity_data._write(put, version)
        put((wire.compact_count if version >= 1 else wire.count)(self.ops))
        for op_data in self.ops:
            op_data._write(put, version)
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EntryData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.entity, pos = wire.read_structs(EntityData._read, buf, pos, n, version)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 11)
        self.ops, pos = wire.read_structs(OpData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterClientQuotasRequest(Message):
    """AlterClientQuotasRequest, versions 0-1."""

    entries: list[EntryData] = field(default_factory=list)  # []EntryData
    validate_only: bool = False  # bool

    NAME: ClassVar[str] = "AlterClientQuotasRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Entries", "entries", "struct", (0, 1), is_array=True, default=[], struct=EntryData),
        Field("ValidateOnly", "validate_only", "bool", (0, 1), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.entries))
        for entry_data in self.entries:
            entry_data._write(put, version)
        put(wire.pack_bool(self.validate_only))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterClientQuotasRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.entries, pos = wire.read_structs(EntryData._read, buf, pos, n, version)
        (self.validate_only,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
