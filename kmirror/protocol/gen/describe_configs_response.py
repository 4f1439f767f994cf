"""DescribeConfigsResponse: response, key 32, versions 1-5, flexible from 4.

Generated from schemas/kafka/DescribeConfigsResponse.json and schemas/mirroring/DescribeConfigsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_obo, pack_obo = wire.fused("?b?")


class DescribeConfigsSynonym(Struct):
    """Part of DescribeConfigsResponse."""

    __slots__ = ("name", "value", "source")

    FIELDS = (
        Field("Name", "name", "string", (1, 5), default=""),
        Field("Value", "value", "string", (1, 5), nullable=(1, 5), default=""),
        Field("Source", "source", "int8", (1, 5), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        value: str | None = "",  # string
        source: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.value = value
        self.source = source
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.name))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.value))
        put(wire.pack_int8(self.source))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsSynonym, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        self.value, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        (self.source,) = wire.unpack_int8(buf, pos)
        pos += 1
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeConfigsResourceResult(Struct):
    """Part of DescribeConfigsResponse."""

    __slots__ = (
        "name",
        "value",
        "read_only",
        "config_source",
        "is_sensitive",
        "synonyms",
        "config_type",
        "documentation",
    )

    FIELDS = (
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

    def __init__(
        self,
        name: str = "",  # string
        value: str | None = "",  # string
        read_only: bool = False,  # bool
        config_source: int = -1,  # int8, ignorable
        is_sensitive: bool = False,  # bool
        synonyms: list[DescribeConfigsSynonym] = UNSET,  # []DescribeConfigsSynonym, ignorable
        config_type: int = 0,  # int8, v3+, ignorable
        documentation: str | None = "",  # string, v3+, null in all, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = [] if synonyms is UNSET else synonyms
        self.config_type = config_type
        self.documentation = documentation
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsResourceResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeConfigsResult(Struct):
    """Part of DescribeConfigsResponse."""

    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "configs")

    FIELDS = (
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

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        configs: list[DescribeConfigsResourceResult] = UNSET,  # []DescribeConfigsResourceResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = [] if configs is UNSET else configs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.error_message))
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 4 else wire.string)(self.resource_name))
        put((wire.compact_count if version >= 4 else wire.count)(self.configs))
        for describe_configs_resource_result in self.configs:
            describe_configs_resource_result._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeConfigsResponse(Message):
    """DescribeConfigsResponse, versions 1-5."""

    __slots__ = ("throttle_time_ms", "results")

    NAME = "DescribeConfigsResponse"
    TYPE = "response"
    API_KEY = 32
    MIN_VERSION = 1
    MAX_VERSION = 5
    FLEXIBLE_FROM = 4
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        results: list[DescribeConfigsResult] = UNSET,  # []DescribeConfigsResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 4 else wire.count)(self.results))
        for describe_configs_result in self.results:
            describe_configs_result._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeConfigsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 7)
        self.results, pos = wire.read_structs(DescribeConfigsResult._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
