"""AlterClientQuotasRequest: request, key 49, versions 0-1, flexible from 1.

Generated from schemas/kafka/AlterClientQuotasRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_do, pack_do = wire.fused("d?")


class EntityData(Struct):
    """Part of AlterClientQuotasRequest."""

    __slots__ = ("entity_type", "entity_name")

    FIELDS = (
        Field("EntityType", "entity_type", "string", (0, 1), default=""),
        Field("EntityName", "entity_name", "string", (0, 1), nullable=(0, 1), default=""),
    )

    def __init__(
        self,
        entity_type: str = "",  # string
        entity_name: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.entity_type = entity_type
        self.entity_name = entity_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.entity_type))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.entity_name))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EntityData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.entity_type, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        self.entity_name, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OpData(Struct):
    """Part of AlterClientQuotasRequest."""

    __slots__ = ("key", "value", "remove")

    FIELDS = (
        Field("Key", "key", "string", (0, 1), default=""),
        Field("Value", "value", "float64", (0, 1), default=0.0),
        Field("Remove", "remove", "bool", (0, 1), default=False),
    )

    def __init__(
        self,
        key: str = "",  # string
        value: float = 0.0,  # float64
        remove: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.key = key
        self.value = value
        self.remove = remove
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.key))
        put(pack_do(self.value, self.remove))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OpData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.key, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        self.value, self.remove = unpack_do(buf, pos)
        pos += 9
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class EntryData(Struct):
    """Part of AlterClientQuotasRequest."""

    __slots__ = ("entity", "ops")

    FIELDS = (
        Field("Entity", "entity", "struct", (0, 1), is_array=True, default=[], struct=EntityData),
        Field("Ops", "ops", "struct", (0, 1), is_array=True, default=[], struct=OpData),
    )

    def __init__(
        self,
        entity: list[EntityData] = UNSET,  # []EntityData
        ops: list[OpData] = UNSET,  # []OpData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.entity = [] if entity is UNSET else entity
        self.ops = [] if ops is UNSET else ops
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.entity))
        for entity_data in self.entity:
            entity_data._write(put, version)
        put((wire.compact_count if version >= 1 else wire.count)(self.ops))
        for op_data in self.ops:
            op_data._write(put, version)
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EntryData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.entity, pos = wire.read_structs(EntityData._read, buf, pos, n, version)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 11)
        self.ops, pos = wire.read_structs(OpData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AlterClientQuotasRequest(Message):
    """AlterClientQuotasRequest, versions 0-1."""

    __slots__ = ("entries", "validate_only")

    NAME = "AlterClientQuotasRequest"
    TYPE = "request"
    API_KEY = 49
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("Entries", "entries", "struct", (0, 1), is_array=True, default=[], struct=EntryData),
        Field("ValidateOnly", "validate_only", "bool", (0, 1), default=False),
    )

    def __init__(
        self,
        entries: list[EntryData] = UNSET,  # []EntryData
        validate_only: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.entries = [] if entries is UNSET else entries
        self.validate_only = validate_only
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.entries))
        for entry_data in self.entries:
            entry_data._write(put, version)
        put(wire.pack_bool(self.validate_only))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterClientQuotasRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.entries, pos = wire.read_structs(EntryData._read, buf, pos, n, version)
        (self.validate_only,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
