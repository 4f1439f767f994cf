"""ClientQuotaRecord: metadata, key 14, versions 0, flexible from 0.

Generated from schemas/metadata/ClientQuotaRecord.json.
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
    """Part of ClientQuotaRecord."""

    entity_type: str = ""  # string
    entity_name: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("EntityType", "entity_type", "string", (0, 0), default=""),
        Field("EntityName", "entity_name", "string", (0, 0), nullable=(0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.entity_type))
        put(wire.compact_nullable_string(self.entity_name))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EntityData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.entity_type, pos = wire.read_compact_string(buf, pos)
        self.entity_name, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ClientQuotaRecord(Message):
    """ClientQuotaRecord, versions 0."""

    entity: list[EntityData] = field(default_factory=list)  # []EntityData
    key: str = ""  # string
    value: float = 0.0  # float64
    remove: bool = False  # bool

    NAME: ClassVar[str] = "ClientQuotaRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Entity", "entity", "struct", (0, 0), is_array=True, default=[], struct=EntityData),
        Field("Key", "key", "string", (0, 0), default=""),
        Field("Value", "value", "float64", (0, 0), default=0.0),
        Field("Remove", "remove", "bool", (0, 0), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.entity))
        for entity_data in self.entity:
            entity_data._write(put, version)
        put(wire.compact_string(self.key))
        put(pack_do(self.value, self.remove))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ClientQuotaRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.entity, pos = wire.read_structs(EntityData._read, buf, pos, n, version)
        self.key, pos = wire.read_compact_string(buf, pos)
        self.value, self.remove = unpack_do(buf, pos)
        pos += 9
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
