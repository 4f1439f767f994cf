"""AlterClientQuotasResponse: response, key 49, versions 0-1, flexible from 1.

Generated from schemas/kafka/AlterClientQuotasResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class EntityData(Struct):
    """Part of AlterClientQuotasResponse."""

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
class EntryData(Struct):
    """Part of AlterClientQuotasResponse."""

    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    entity: list[EntityData] = field(default_factory=list)  # []EntityData

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1), default=""),
        Field("Entity", "entity", "struct", (0, 1), is_array=True, default=[], struct=EntityData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.error_message))
        put((wire.compact_count if version >= 1 else wire.count)(self.entity))
        for entity_data in self.entity:
            entity_data._write(put, version)
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
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.entity, pos = wire.read_structs(EntityData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterClientQuotasResponse(Message):
    """AlterClientQuotasResponse, versions 0-1."""

    throttle_time_ms: int = 0  # int32
    entries: list[EntryData] = field(default_factory=list)  # []EntryData

    NAME: ClassVar[str] = "AlterClientQuotasResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 49
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 1), default=0),
        Field("Entries", "entries", "struct", (0, 1), is_array=True, default=[], struct=EntryData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 1 else wire.count)(self.entries))
        for entry_data in self.entries:
            entry_data._write(put, version)
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterClientQuotasResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 5)
        self.entries, pos = wire.read_structs(EntryData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
