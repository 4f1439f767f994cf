"""IncrementalAlterConfigsRequest: request, key 44, versions 0-2, flexible from 1.

Generated from schemas/kafka/IncrementalAlterConfigsRequest.json and schemas/mirroring/IncrementalAlterConfigsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class AlterableConfig(Struct):
    """Part of IncrementalAlterConfigsRequest."""

    __slots__ = ("name", "config_operation", "value")

    FIELDS = (
        Field("Name", "name", "string", (0, 2), default="", map_key=True),
        Field("ConfigOperation", "config_operation", "int8", (0, 2), default=0, map_key=True),
        Field("Value", "value", "string", (0, 2), nullable=(0, 2), default=""),
    )

    def __init__(
        self,
        name: str = "",  # string
        config_operation: int = 0,  # int8
        value: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.config_operation = config_operation
        self.value = value
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.name))
        put(wire.pack_int8(self.config_operation))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.value))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterableConfig, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        (self.config_operation,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.value, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AlterConfigsResource(Struct):
    """Part of IncrementalAlterConfigsRequest."""

    __slots__ = ("resource_type", "resource_name", "configs")

    FIELDS = (
        Field("ResourceType", "resource_type", "int8", (0, 2), default=0, map_key=True),
        Field("ResourceName", "resource_name", "string", (0, 2), default="", map_key=True),
        Field("Configs", "configs", "struct", (0, 2), is_array=True, default=[], struct=AlterableConfig),
    )

    def __init__(
        self,
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        configs: list[AlterableConfig] = UNSET,  # []AlterableConfig
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is UNSET else configs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 1 else wire.string)(self.resource_name))
        put((wire.compact_count if version >= 1 else wire.count)(self.configs))
        for alterable_config in self.configs:
            alterable_config._write(put, version)
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterConfigsResource, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 4)
        self.configs, pos = wire.read_structs(AlterableConfig._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class IncrementalAlterConfigsRequest(Message):
    """IncrementalAlterConfigsRequest, versions 0-2."""

    __slots__ = ("resources", "validate_only")

    NAME = "IncrementalAlterConfigsRequest"
    TYPE = "request"
    API_KEY = 44
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 1
    FIELDS = (
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

    def __init__(
        self,
        resources: list[AlterConfigsResource] = UNSET,  # []AlterConfigsResource
        validate_only: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resources = [] if resources is UNSET else resources
        self.validate_only = validate_only
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.resources))
        for alter_configs_resource in self.resources:
            alter_configs_resource._write(put, version)
        put(wire.pack_bool(self.validate_only))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[IncrementalAlterConfigsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 4)
        self.resources, pos = wire.read_structs(AlterConfigsResource._read, buf, pos, n, version)
        (self.validate_only,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
