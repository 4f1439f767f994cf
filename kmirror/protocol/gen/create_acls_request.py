"""CreateAclsRequest: request, key 30, versions 1-3, flexible from 2.

Generated from schemas/kafka/CreateAclsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_bb, pack_bb = wire.fused("bb")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AclCreation(Struct):
    """Part of CreateAclsRequest."""

    resource_type: int = 0  # int8
    resource_name: str = ""  # string
    resource_pattern_type: int = 3  # int8
    principal: str = ""  # string
    host: str = ""  # string
    operation: int = 0  # int8
    permission_type: int = 0  # int8

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ResourceType", "resource_type", "int8", (1, 3), default=0),
        Field("ResourceName", "resource_name", "string", (1, 3), default=""),
        Field("ResourcePatternType", "resource_pattern_type", "int8", (1, 3), default=3),
        Field("Principal", "principal", "string", (1, 3), default=""),
        Field("Host", "host", "string", (1, 3), default=""),
        Field("Operation", "operation", "int8", (1, 3), default=0),
        Field("PermissionType", "permission_type", "int8", (1, 3), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.resource_name))
        put(wire.pack_int8(self.resource_pattern_type))
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AclCreation, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        (self.resource_pattern_type,) = wire.unpack_int8(buf, pos)
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
class CreateAclsRequest(Message):
    """CreateAclsRequest, versions 1-3."""

    creations: list[AclCreation] = field(default_factory=list)  # []AclCreation

    NAME: ClassVar[str] = "CreateAclsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Creations", "creations", "struct", (1, 3), is_array=True, default=[], struct=AclCreation),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.creations))
        for acl_creation in self.creations:
            acl_creation._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateAclsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 8)
        self.creations, pos = wire.read_structs(AclCreation._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
