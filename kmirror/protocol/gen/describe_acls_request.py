"""DescribeAclsRequest: request, key 29, versions 1-3, flexible from 2.

Generated from schemas/kafka/DescribeAclsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_bb, pack_bb = wire.fused("bb")


class DescribeAclsRequest(Message):
    """DescribeAclsRequest, versions 1-3."""

    __slots__ = (
        "resource_type_filter",
        "resource_name_filter",
        "pattern_type_filter",
        "principal_filter",
        "host_filter",
        "operation",
        "permission_type",
    )

    NAME = "DescribeAclsRequest"
    TYPE = "request"
    API_KEY = 29
    MIN_VERSION = 1
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("ResourceTypeFilter", "resource_type_filter", "int8", (1, 3), default=0),
        Field("ResourceNameFilter", "resource_name_filter", "string", (1, 3), nullable=(1, 3), default=""),
        Field("PatternTypeFilter", "pattern_type_filter", "int8", (1, 3), default=3),
        Field("PrincipalFilter", "principal_filter", "string", (1, 3), nullable=(1, 3), default=""),
        Field("HostFilter", "host_filter", "string", (1, 3), nullable=(1, 3), default=""),
        Field("Operation", "operation", "int8", (1, 3), default=0),
        Field("PermissionType", "permission_type", "int8", (1, 3), default=0),
    )

    def __init__(
        self,
        resource_type_filter: int = 0,  # int8
        resource_name_filter: str | None = "",  # string
        pattern_type_filter: int = 3,  # int8
        principal_filter: str | None = "",  # string
        host_filter: str | None = "",  # string
        operation: int = 0,  # int8
        permission_type: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resource_type_filter = resource_type_filter
        self.resource_name_filter = resource_name_filter
        self.pattern_type_filter = pattern_type_filter
        self.principal_filter = principal_filter
        self.host_filter = host_filter
        self.operation = operation
        self.permission_type = permission_type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type_filter))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.resource_name_filter))
        put(wire.pack_int8(self.pattern_type_filter))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.principal_filter))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.host_filter))
        put(pack_bb(self.operation, self.permission_type))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeAclsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.resource_type_filter,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name_filter, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        (self.pattern_type_filter,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.principal_filter, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        self.host_filter, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        self.operation, self.permission_type = unpack_bb(buf, pos)
        pos += 2
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
