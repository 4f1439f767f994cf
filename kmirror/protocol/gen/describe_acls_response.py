"""DescribeAclsResponse: response, key 29, versions 1-3, flexible from 2.

Generated from schemas/kafka/DescribeAclsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_bb, pack_bb = wire.fused("bb")
unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AclDescription(Struct):
    """Part of DescribeAclsResponse."""

    principal: str = ""  # string
    host: str = ""  # string
    operation: int = 0  # int8
    permission_type: int = 0  # int8

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Principal", "principal", "string", (1, 3), default=""),
        Field("Host", "host", "string", (1, 3), default=""),
        Field("Operation", "operation", "int8", (1, 3), default=0),
        Field("PermissionType", "permission_type", "int8", (1, 3), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AclDescription, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
class DescribeAclsResource(Struct):
    """Part of DescribeAclsResponse."""

    resource_type: int = 0  # int8
    resource_name: str = ""  # string
    pattern_type: int = 3  # int8
    acls: list[AclDescription] = field(default_factory=list)  # []AclDescription

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ResourceType", "resource_type", "int8", (1, 3), default=0),
        Field("ResourceName", "resource_name", "string", (1, 3), default=""),
        Field("PatternType", "pattern_type", "int8", (1, 3), default=3),
        Field("Acls", "acls", "struct", (1, 3), is_array=True, default=[], struct=AclDescription),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.resource_name))
        put(wire.pack_int8(self.pattern_type))
        put((wire.compact_count if version >= 2 else wire.count)(self.acls))
        for acl_description in self.acls:
            acl_description._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeAclsResource, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        (self.pattern_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 5)
        self.acls, pos = wire.read_structs(AclDescription._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeAclsResponse(Message):
    """DescribeAclsResponse, versions 1-3."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    resources: list[DescribeAclsResource] = field(default_factory=list)  # []DescribeAclsResource

    NAME: ClassVar[str] = "DescribeAclsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 29
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 3), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 3), nullable=(1, 3), default=""),
        Field(
            "Resources",
            "resources",
            "struct",
            (1, 3),
            is_array=True,
            default=[],
            struct=DescribeAclsResource,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        put((wire.compact_count if version >= 2 else wire.count)(self.resources))
        for describe_acls_resource in self.resources:
            describe_acls_resource._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeAclsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 5)
        self.resources, pos = wire.read_structs(DescribeAclsResource._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
