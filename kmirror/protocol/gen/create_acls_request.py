"""CreateAclsRequest: request, key 30, versions 1-3, flexible from 2.

Generated from schemas/kafka/CreateAclsRequest.json.
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


class AclCreation(Struct):
    """Part of CreateAclsRequest."""

    __slots__ = (
        "resource_type",
        "resource_name",
        "resource_pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
    )

    FIELDS = (
        Field("ResourceType", "resource_type", "int8", (1, 3), default=0),
        Field("ResourceName", "resource_name", "string", (1, 3), default=""),
        Field("ResourcePatternType", "resource_pattern_type", "int8", (1, 3), default=3),
        Field("Principal", "principal", "string", (1, 3), default=""),
        Field("Host", "host", "string", (1, 3), default=""),
        Field("Operation", "operation", "int8", (1, 3), default=0),
        Field("PermissionType", "permission_type", "int8", (1, 3), default=0),
    )

    def __init__(
        self,
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        resource_pattern_type: int = 3,  # int8
        principal: str = "",  # string
        host: str = "",  # string
        operation: int = 0,  # int8
        permission_type: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.resource_pattern_type = resource_pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.resource_name))
        put(wire.pack_int8(self.resource_pattern_type))
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AclCreation, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class CreateAclsRequest(Message):
    """CreateAclsRequest, versions 1-3."""

    __slots__ = ("creations",)

    NAME = "CreateAclsRequest"
    TYPE = "request"
    API_KEY = 30
    MIN_VERSION = 1
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("Creations", "creations", "struct", (1, 3), is_array=True, default=[], struct=AclCreation),
    )

    def __init__(
        self,
        creations: list[AclCreation] = UNSET,  # []AclCreation
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.creations = [] if creations is UNSET else creations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.creations))
        for acl_creation in self.creations:
            acl_creation._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateAclsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 8)
        self.creations, pos = wire.read_structs(AclCreation._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
