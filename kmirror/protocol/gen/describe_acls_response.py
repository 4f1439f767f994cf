"""DescribeAclsResponse: response, key 29, versions 1-3, flexible from 2.

Generated from schemas/kafka/DescribeAclsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_bb, pack_bb = wire.fused("bb")
unpack_ih, pack_ih = wire.fused("ih")


class AclDescription(Struct):
    """Part of DescribeAclsResponse."""

    __slots__ = ("principal", "host", "operation", "permission_type")

    FIELDS = (
        Field("Principal", "principal", "string", (1, 3), default=""),
        Field("Host", "host", "string", (1, 3), default=""),
        Field("Operation", "operation", "int8", (1, 3), default=0),
        Field("PermissionType", "permission_type", "int8", (1, 3), default=0),
    )

    def __init__(
        self,
        principal: str = "",  # string
        host: str = "",  # string
        operation: int = 0,  # int8
        permission_type: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.principal))
        put((wire.compact_string if version >= 2 else wire.string)(self.host))
        put(pack_bb(self.operation, self.permission_type))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AclDescription, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.principal, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.host, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.operation, self.permission_type = unpack_bb(buf, pos)
        pos += 2
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeAclsResource(Struct):
    """Part of DescribeAclsResponse."""

    __slots__ = ("resource_type", "resource_name", "pattern_type", "acls")

    FIELDS = (
        Field("ResourceType", "resource_type", "int8", (1, 3), default=0),
        Field("ResourceName", "resource_name", "string", (1, 3), default=""),
        Field("PatternType", "pattern_type", "int8", (1, 3), default=3),
        Field("Acls", "acls", "struct", (1, 3), is_array=True, default=[], struct=AclDescription),
    )

    def __init__(
        self,
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        pattern_type: int = 3,  # int8
        acls: list[AclDescription] = UNSET,  # []AclDescription
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.acls = [] if acls is UNSET else acls
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.resource_name))
        put(wire.pack_int8(self.pattern_type))
        put((wire.compact_count if version >= 2 else wire.count)(self.acls))
        for acl_description in self.acls:
            acl_description._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeAclsResource, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        (self.pattern_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 5)
        self.acls, pos = wire.read_structs(AclDescription._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeAclsResponse(Message):
    """DescribeAclsResponse, versions 1-3."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "resources")

    NAME = "DescribeAclsResponse"
    TYPE = "response"
    API_KEY = 29
    MIN_VERSION = 1
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        resources: list[DescribeAclsResource] = UNSET,  # []DescribeAclsResource
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.resources = [] if resources is UNSET else resources
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        put((wire.compact_count if version >= 2 else wire.count)(self.resources))
        for describe_acls_resource in self.resources:
            describe_acls_resource._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeAclsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 5)
        self.resources, pos = wire.read_structs(DescribeAclsResource._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
