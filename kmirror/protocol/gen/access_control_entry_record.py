"""AccessControlEntryRecord: metadata, key 18, versions 0, flexible from 0.

Generated from schemas/metadata/AccessControlEntryRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_bb, pack_bb = wire.fused("bb")


class AccessControlEntryRecord(Message):
    """AccessControlEntryRecord, versions 0."""

    __slots__ = (
        "id",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
    )

    NAME = "AccessControlEntryRecord"
    TYPE = "metadata"
    API_KEY = 18
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Id", "id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("ResourceType", "resource_type", "int8", (0, 0), default=0),
        Field("ResourceName", "resource_name", "string", (0, 0), default=""),
        Field("PatternType", "pattern_type", "int8", (0, 0), default=0),
        Field("Principal", "principal", "string", (0, 0), default=""),
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Operation", "operation", "int8", (0, 0), default=0),
        Field("PermissionType", "permission_type", "int8", (0, 0), default=0),
    )

    def __init__(
        self,
        id: Uuid = Uuid.ZERO,  # uuid
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        pattern_type: int = 0,  # int8
        principal: str = "",  # string
        host: str = "",  # string
        operation: int = 0,  # int8
        permission_type: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.id = id
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.id))
        put(wire.pack_int8(self.resource_type))
        put(wire.compact_string(self.resource_name))
        put(wire.pack_int8(self.pattern_type))
        put(wire.compact_string(self.principal))
        put(wire.compact_string(self.host))
        put(pack_bb(self.operation, self.permission_type))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AccessControlEntryRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.id, pos = wire.read_uuid(buf, pos)
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = wire.read_compact_string(buf, pos)
        (self.pattern_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.principal, pos = wire.read_compact_string(buf, pos)
        self.host, pos = wire.read_compact_string(buf, pos)
        self.operation, self.permission_type = unpack_bb(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
