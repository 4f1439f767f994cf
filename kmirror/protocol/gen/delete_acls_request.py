"""DeleteAclsRequest: request, key 31, versions 1-3, flexible from 2.

Generated from schemas/kafka/DeleteAclsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_bb, pack_bb = wire.fused("bb")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteAclsFilter(Struct):
    """Part of DeleteAclsRequest."""

    resource_type_filter: int = 0  # int8
    resource_name_filter: str | None = ""  # string
    pattern_type_filter: int = 3  # int8
    principal_filter: str | None = ""  # string
    host_filter: str | None = ""  # string
    operation: int = 0  # int8
    permission_type: int = 0  # int8

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ResourceTypeFilter", "resource_type_filter", "int8", (1, 3), default=0),
        Field("ResourceNameFilter", "resource_name_filter", "string", (1, 3), nullable=(1, 3), default=""),
        Field("PatternTypeFilter", "pattern_type_filter", "int8", (1, 3), default=3),
        Field("PrincipalFilter", "principal_filter", "string", (1, 3), nullable=(1, 3), default=""),
        Field("HostFilter", "host_filter", "string", (1, 3), nullable=(1, 3), default=""),
        Field("Operation", "operation", "int8", (1, 3), default=0),
        Field("PermissionType", "permission_type", "int8", (1, 3), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type_filter))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.resource_name_filter))
        put(wire.pack_int8(self.pattern_type_filter))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.principal_filter))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.host_filter))
        put(pack_bb(self.operation, self.permission_type))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteAclsFilter, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteAclsRequest(Message):
    """DeleteAclsRequest, versions 1-3."""

    filters: list[DeleteAclsFilter] = field(default_factory=list)  # []DeleteAclsFilter

    NAME: ClassVar[str] = "DeleteAclsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 31
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Filters", "filters", "struct", (1, 3), is_array=True, default=[], struct=DeleteAclsFilter),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.filters))
        for delete_acls_filter in self.filters:
            delete_acls_filter._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteAclsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 8)
        self.filters, pos = wire.read_structs(DeleteAclsFilter._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
