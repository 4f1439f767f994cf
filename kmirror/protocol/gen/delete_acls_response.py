"""DeleteAclsResponse: response, key 31, versions 1-3, flexible from 2.

Generated from schemas/kafka/DeleteAclsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_bb, pack_bb = wire.fused("bb")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteAclsMatchingAcl(Struct):
    """Part of DeleteAclsResponse."""

    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    resource_type: int = 0  # int8
    resource_name: str = ""  # string
    pattern_type: int = 3  # int8
    principal: str = ""  # string
    host: str = ""  # string
    operation: int = 0  # int8
    permission_type: int = 0  # int8

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 3), nullable=(1, 3), default=""),
        Field("ResourceType", "resource_type", "int8", (1, 3), default=0),
        Field("ResourceName", "resource_name", "string", (1, 3), default=""),
        Field("PatternType", "pattern_type", "int8", (1, 3), default=3),
        Field("Principal", "principal", "string", (1, 3), default=""),
        Field("Host", "host", "string", (1, 3), default=""),
        Field("Operation", "operation", "int8", (1, 3), default=0),
        Field("PermissionType", "permission_type", "int8", (1, 3), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.resource_name))
        put(wire.pack_int8(self.pattern_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.principal))
        put((wire.compact_string if version >= 2 else wire.string)(self.host))
        put(pack_bb(self.operation, self.permission_type))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteAclsMatchingAcl, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        (self.pattern_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.principal, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.host, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.operation, self.permission_type = unpack_bb(buf, pos)
        pos += 2
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteAclsFilterResult(Struct):
    """Part of DeleteAclsResponse."""

    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    matching_acls: list[DeleteAclsMatchingAcl] = field(default_factory=list)  # []DeleteAclsMatchingAcl

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 3), nullable=(1, 3), default=""),
        Field(
            "MatchingAcls",
            "matching_acls",
            "struct",
            (1, 3),
            is_array=True,
            default=[],
            struct=DeleteAclsMatchingAcl,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        put((wire.compact_count if version >= 2 else wire.count)(self.matching_acls))
        for delete_acls_matching_acl in self.matching_acls:
            delete_acls_matching_acl._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteAclsFilterResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 11)
        self.matching_acls, pos = wire.read_structs(DeleteAclsMatchingAcl._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteAclsResponse(Message):
    """DeleteAclsResponse, versions 1-3."""

    throttle_time_ms: int = 0  # int32
    filter_results: list[DeleteAclsFilterResult] = field(default_factory=list)  # []DeleteAclsFilterResult

    NAME: ClassVar[str] = "DeleteAclsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 3), default=0),
        Field(
            "FilterResults",
            "filter_results",
            "struct",
            (1, 3),
            is_array=True,
            default=[],
            struct=DeleteAclsFilterResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.filter_results))
        for delete_acls_filter_result in self.filter_results:
            delete_acls_filter_result._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteAclsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 5)
        self.filter_results, pos = wire.read_structs(DeleteAclsFilterResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
