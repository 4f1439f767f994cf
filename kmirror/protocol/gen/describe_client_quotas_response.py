"""DescribeClientQuotasResponse: response, key 48, versions 0-1, flexible from 1.

Generated from schemas/kafka/DescribeClientQuotasResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class EntityData(Struct):
    """Part of DescribeClientQuotasResponse."""

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


class ValueData(Struct):
    """Part of DescribeClientQuotasResponse."""

    __slots__ = ("key", "value")

    FIELDS = (
        Field("Key", "key", "string", (0, 1), default=""),
        Field("Value", "value", "float64", (0, 1), default=0.0),
    )

    def __init__(
        self,
        key: str = "",  # string
        value: float = 0.0,  # float64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.key = key
        self.value = value
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.key))
        put(wire.pack_float64(self.value))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ValueData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.key, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        (self.value,) = wire.unpack_float64(buf, pos)
        pos += 8
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class EntryData(Struct):
    """Part of DescribeClientQuotasResponse."""

    __slots__ = ("entity", "values")

    FIELDS = (
        Field("Entity", "entity", "struct", (0, 1), is_array=True, default=[], struct=EntityData),
        Field("Values", "values", "struct", (0, 1), is_array=True, default=[], struct=ValueData),
    )

    def __init__(
        self,
        entity: list[EntityData] = UNSET,  # []EntityData
        values: list[ValueData] = UNSET,  # []ValueData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.entity = [] if entity is UNSET else entity
        self.values = [] if values is UNSET else values
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.entity))
        for entity_data in self.entity:
            entity_data._write(put, version)
        put((wire.compact_count if version >= 1 else wire.count)(self.values))
        for value_data in self.values:
            value_data._write(put, version)
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
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 10)
        self.values, pos = wire.read_structs(ValueData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeClientQuotasResponse(Message):
    """DescribeClientQuotasResponse, versions 0-1."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "entries")

    NAME = "DescribeClientQuotasResponse"
    TYPE = "response"
    API_KEY = 48
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1), default=""),
        Field(
            "Entries",
            "entries",
            "struct",
            (0, 1),
            is_array=True,
            nullable=(0, 1),
            default=[],
            struct=EntryData,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        entries: list[EntryData] | None = UNSET,  # []EntryData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.entries = [] if entries is UNSET else entries
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.error_message))
        put((wire.compact_nullable_count if version >= 1 else wire.nullable_count)(self.entries))
        for entry_data in self.entries or ():
            entry_data._write(put, version)
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeClientQuotasResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        n, pos = (wire.read_compact_nullable_count if version >= 1 else wire.read_nullable_count)(buf, pos, 3)
        if n < 0:
            self.entries = None
        else:
            self.entries, pos = wire.read_structs(EntryData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
