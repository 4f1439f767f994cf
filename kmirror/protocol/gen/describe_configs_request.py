"""DescribeConfigsRequest: request, key 32, versions 1-5, flexible from 4.

Generated from schemas/kafka/DescribeConfigsRequest.json and schemas/mirroring/DescribeConfigsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class DescribeConfigsResource(Struct):
    """Part of DescribeConfigsRequest."""

    __slots__ = ("resource_type", "resource_name", "configuration_keys")

    FIELDS = (
        Field("ResourceType", "resource_type", "int8", (1, 5), default=0),
        Field("ResourceName", "resource_name", "string", (1, 5), default=""),
        Field(
            "ConfigurationKeys",
            "configuration_keys",
            "string",
            (1, 5),
            is_array=True,
            nullable=(1, 5),
            default=[],
        ),
    )

    def __init__(
        self,
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        configuration_keys: list[str] | None = UNSET,  # []string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configuration_keys = [] if configuration_keys is UNSET else configuration_keys
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 4 else wire.string)(self.resource_name))
        put((wire.compact_nullable_count if version >= 4 else wire.nullable_count)(self.configuration_keys))
        for text in self.configuration_keys or ():
            put((wire.compact_string if version >= 4 else wire.string)(text))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsResource, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_nullable_count if version >= 4 else wire.read_nullable_count)(buf, pos, 1)
        if n < 0:
            self.configuration_keys = None
        else:
            self.configuration_keys, pos = wire.read_many(wire.read_compact_string if version >= 4 else wire.read_string, buf, pos, n)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeConfigsRequest(Message):
    """DescribeConfigsRequest, versions 1-5."""

    __slots__ = ("resources", "include_synonyms", "include_documentation")

    NAME = "DescribeConfigsRequest"
    TYPE = "request"
    API_KEY = 32
    MIN_VERSION = 1
    MAX_VERSION = 5
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field(
            "Resources",
            "resources",
            "struct",
            (1, 5),
            is_array=True,
            default=[],
            struct=DescribeConfigsResource,
        ),
        Field("IncludeSynonyms", "include_synonyms", "bool", (1, 5), default=False),
        Field("IncludeDocumentation", "include_documentation", "bool", (3, 5), default=False),
    )

    def __init__(
        self,
        resources: list[DescribeConfigsResource] = UNSET,  # []DescribeConfigsResource
        include_synonyms: bool = False,  # bool
        include_documentation: bool = False,  # bool, v3+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resources = [] if resources is UNSET else resources
        self.include_synonyms = include_synonyms
        self.include_documentation = include_documentation
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 4 else wire.count)(self.resources))
        for describe_configs_resource in self.resources:
            describe_configs_resource._write(put, version)
        put(wire.pack_bool(self.include_synonyms))
        if version >= 3:
            put(wire.pack_bool(self.include_documentation))
        elif self.include_documentation:
            raise wire.Unwritable
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 4)
        self.resources, pos = wire.read_structs(DescribeConfigsResource._read, buf, pos, n, version)
        (self.include_synonyms,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 3:
            (self.include_documentation,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.include_documentation = False
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
