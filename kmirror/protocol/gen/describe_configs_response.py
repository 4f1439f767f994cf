"""DescribeConfigsResponse: response, key 32, versions 1-5, flexible from 4.

Generated from schemas/kafka/DescribeConfigsResponse.json and schemas/mirroring/DescribeConfigsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_obo, pack_obo = wire.fused("?b?")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeConfigsSynonym(Struct):
    """Part of DescribeConfigsResponse."""

    name: str = ""  # string
    value: str | None = ""  # string
    source: int = 0  # int8

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (1, 5), default=""),
        Field("Value", "value", "string", (1, 5), nullable=(1, 5), default=""),
        Field("Source", "source", "int8", (1, 5), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.name))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.value))
        put(wire.pack_int8(self.source))
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsSynonym, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        self.value, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        (self.source,) = wire.unpack_int8(buf, pos)
        pos += 1
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeConfigsResourceResult(Struct):
    """Part of DescribeConfigsResponse."""

    name: str = ""  # string
    value: str | None = ""  # string
    read_only: bool = False  # bool
    config_source: int = -1  # int8, ignorable
    is_sensitive: bool = False  # bool
    synonyms: list[DescribeConfigsSynonym] = field(default_factory=list)  # []DescribeConfigsSynonym, ignorable
    config_type: int = 0  # int8, v3+, ignorable
    documentation: str | None = ""  # string, v3+, null in all, ignorable

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (1, 5), default=""),
        Field("Value", "value", "string", (1, 5), nullable=(1, 5), default=""),
        Field("ReadOnly", "read_only", "bool", (1, 5), default=False),
        Field("ConfigSource", "config_source", "int8", (1, 5), default=-1, ignorable=True),
        Field("IsSensitive", "is_sensitive", "bool", (1, 5), default=False),
        Field(
            "Synonyms",
            "synonyms",
            "struct",
            (1, 5),
            is_array=True,
            default=[],
            ignorable=True,
            struct=DescribeConfigsSynonym,
        ),
        Field("ConfigType", "config_type", "int8", (3, 5), default=0, ignorable=True),
        Field(
            "Documentation",
            "documentation",
            "string",
            (3, 5),
            nullable=(1, 5),
            default="",
            ignorable=True,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.name))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.value))
        put(pack_obo(self.read_only, self.config_source, self.is_sensitive))
        put((wire.compact_count if version >= 4 else wire.count)(self.synonyms))
        for describe_configs_synonym in self.synonyms:
            describe_configs_synonym._write(put, version)
        if version >= 3:
            put(wire.pack_int8(self.config_type))
        if version >= 3:
            put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.documentation))
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsResourceResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        self.value, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        self.read_only, self.config_source, self.is_sensitive = unpack_obo(buf, pos)
        pos += 3
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 4)
        self.synonyms, pos = wire.read_structs(DescribeConfigsSynonym._read, buf, pos, n, version)
        if version >= 3:
            (self.config_type,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.config_type = 0
        if version >= 3:
            self.documentation, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        else:
            self.documentation = ""
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeConfigsResult(Struct):
    """Part of DescribeConfigsResponse."""

    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    resource_type: int = 0  # int8
    resource_name: str = ""  # string
    configs: list[DescribeConfigsResourceResult] = field(default_factory=list)  # []DescribeConfigsResourceResult

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 5), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 5), nullable=(1, 5), default=""),
        Field("ResourceType", "resource_type", "int8", (1, 5), default=0),
        Field("ResourceName", "resource_name", "string", (1, 5), default=""),
        Field(
            "Configs",
            "configs",
            "struct",
            (1, 5),
            is_array=True,
            default=[],
            struct=DescribeConfigsResourceResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.error_message))
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 4 else wire.string)(self.resource_name))
        put((wire.compact_count if version >= 4 else wire.count)(self.configs))
        for describe_configs_resource_result in self.configs:
            describe_configs_resource_result._write(put, version)
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 9)
        self.configs, pos = wire.read_structs(DescribeConfigsResourceResult._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeConfigsResponse(Message):
    """DescribeConfigsResponse, versions 1-5."""

    throttle_time_ms: int = 0  # int32
    results: list[DescribeConfigsResult] = field(default_factory=list)  # []DescribeConfigsResult

    NAME: ClassVar[str] = "DescribeConfigsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 32
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 5), default=0),
        Field(
            "Results",
            "results",
            "struct",
            (1, 5),
            is_array=True,
            default=[],
            struct=DescribeConfigsResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 4 else wire.count)(self.results))
        for describe_configs_result in self.results:
            describe_configs_result._write(put, version)
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 7)
        self.results, pos = wire.read_structs(DescribeConfigsResult._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
