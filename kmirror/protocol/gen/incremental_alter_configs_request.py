"""IncrementalAlterConfigsRequest: request, key 44, versions 0-2, flexible from 1.

Generated from schemas/kafka/IncrementalAlterConfigsRequest.json and schemas/mirroring/IncrementalAlterConfigsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterableConfig(Struct):
    """Part of IncrementalAlterConfigsRequest."""

    name: str = ""  # string
    config_operation: int = 0  # int8
    value: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 2), default="", map_key=True),
        Field("ConfigOperation", "config_operation", "int8", (0, 2), default=0, map_key=True),
        Field("Value", "value", "string", (0, 2), nullable=(0, 2), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.name))
        put(wire.pack_int8(self.config_operation))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.value))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterableConfig, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        (self.config_operation,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.value, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterConfigsResource(Struct):
    """Part of IncrementalAlterConfigsRequest."""

    resource_type: int = 0  # int8
    resource_name: str = ""  # string
    configs: list[AlterableConfig] = field(default_factory=list)  # []AlterableConfig

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ResourceType", "resource_type", "int8", (0, 2), default=0, map_key=True),
        Field("ResourceName", "resource_name", "string", (0, 2), default="", map_key=True),
        Field("Configs", "configs", "struct", (0, 2), is_array=True, default=[], struct=AlterableConfig),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 1 else wire.string)(self.resource_name))
        put((wire.compact_count if version >= 1 else wire.count)(self.configs))
        for alterable_config in self.configs:
            alterable_config._write(put, version)
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterConfigsResource, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 4)
        self.configs, pos = wire.read_structs(AlterableConfig._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class IncrementalAlterConfigsRequest(Message):
    """IncrementalAlterConfigsRequest, versions 0-2."""

    resources: list[AlterConfigsResource] = field(default_factory=list)  # []AlterConfigsResource
    validate_only: bool = False  # bool

    NAME: ClassVar[str] = "IncrementalAlterConfigsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 44
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "Resources",
            "resources",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=AlterConfigsResource,
        ),
        Field("ValidateOnly", "validate_only", "bool", (0, 2), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.resources))
        for alter_configs_resource in self.resources:
            alter_configs_resource._write(put, version)
        put(wire.pack_bool(self.validate_only))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[IncrementalAlterConfigsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 4)
        self.resources, pos = wire.read_structs(AlterConfigsResource._read, buf, pos, n, version)
        (self.validate_only,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
