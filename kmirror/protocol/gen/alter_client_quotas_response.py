"""AlterClientQuotasResponse: response, key 49, versions 0-1, flexible from 1.

Generated from schemas/kafka/AlterClientQuotasResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class EntityData(Struct):
    """Part of AlterClientQuotasResponse."""

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


class EntryData(Struct):
    """Part of AlterClientQuotasResponse."""

    __slots__ = ("error_code", "error_message", "entity")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1), default=""),
        Field("Entity", "entity", "struct", (0, 1), is_array=True, default=[], struct=EntityData),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        entity: list[EntityData] = UNSET,  # []EntityData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.entity = [] if entity is UNSET else entity
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.error_message))
        put((wire.compact_count if version >= 1 else wire.count)(self.entity))
        for entity_data in self.entity:
            entity_data._write(put, version)
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
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.entity, pos = wire.read_structs(EntityData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AlterClientQuotasResponse(Message):
    """AlterClientQuotasResponse, versions 0-1."""

    __slots__ = ("throttle_time_ms", "entries")

    NAME = "AlterClientQuotasResponse"
    TYPE = "response"
    API_KEY = 49
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 1), default=0),
        Field("Entries", "entries", "struct", (0, 1), is_array=True, default=[], struct=EntryData),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        entries: list[EntryData] = UNSET,  # []EntryData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.entries = [] if entries is UNSET else entries
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 1 else wire.count)(self.entries))
        for entry_data in self.entries:
            entry_data._write(put, version)
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterClientQuotasResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 5)
        self.entries, pos = wire.read_structs(EntryData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
