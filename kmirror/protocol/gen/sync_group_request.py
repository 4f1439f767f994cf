"""SyncGroupRequest: request, key 14, versions 0-5, flexible from 4.

Generated from schemas/kafka/SyncGroupRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class SyncGroupRequestAssignment(Struct):
    """Part of SyncGroupRequest."""

    __slots__ = ("member_id", "assignment")

    FIELDS = (
        Field("MemberId", "member_id", "string", (0, 5), default=""),
        Field("Assignment", "assignment", "bytes", (0, 5), default=b""),
    )

    def __init__(
        self,
        # Id of the member.
        member_id: str = "",  # string
        # The partitions assigned, in the form of the group's protocol.
        assignment: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_id = member_id
        self.assignment = assignment
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.member_id))
        (wire.put_compact_bytes if version >= 4 else wire.put_bytes)(put, self.assignment)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SyncGroupRequestAssignment, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        self.assignment, pos = (wire.read_compact_bytes if version >= 4 else wire.read_bytes)(buf, pos)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class SyncGroupRequest(Message):
    """Asks for the member's assignment; the leader brings all of them."""

    __slots__ = (
        "group_id",
        "generation_id",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocol_name",
        "assignments",
    )

    NAME = "SyncGroupRequest"
    TYPE = "request"
    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 5), default="", entity="groupId"),
        Field("GenerationId", "generation_id", "int32", (0, 5), default=0),
        Field("MemberId", "member_id", "string", (0, 5), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (3, 5), nullable=(3, 5)),
        Field("ProtocolType", "protocol_type", "string", (5, 5), nullable=(5, 5), ignorable=True),
        Field("ProtocolName", "protocol_name", "string", (5, 5), nullable=(5, 5), ignorable=True),
        Field(
            "Assignments",
            "assignments",
            "struct",
            (0, 5),
            is_array=True,
            default=[],
            struct=SyncGroupRequestAssignment,
        ),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # Generation of the group.
        generation_id: int = 0,  # int32
        # Id of the member.
        member_id: str = "",  # string
        # What a static member is called, null for a dynamic one.
        group_instance_id: str | None = None,  # string, v3+
        # Kind of protocol, as in consumer.
        protocol_type: str | None = None,  # string, v5+, ignorable
        # The protocol that the group chose.
        protocol_name: str | None = None,  # string, v5+, ignorable
        # What the leader assigned to each member.
        assignments: list[SyncGroupRequestAssignment] = UNSET,  # []SyncGroupRequestAssignment
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignments = [] if assignments is UNSET else assignments
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.group_id))
        put(wire.pack_int32(self.generation_id))
        put((wire.compact_string if version >= 4 else wire.string)(self.member_id))
        if version >= 3:
            put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.group_instance_id))
        elif self.group_instance_id is not None:
            raise wire.Unwritable
        if version >= 5:
            put(wire.compact_nullable_string(self.protocol_type))
        if version >= 5:
            put(wire.compact_nullable_string(self.protocol_name))
        put((wire.compact_count if version >= 4 else wire.count)(self.assignments))
        for sync_group_request_assignment in self.assignments:
            sync_group_request_assignment._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SyncGroupRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        (self.generation_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.member_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        if version >= 3:
            self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        else:
            self.group_instance_id = None
        if version >= 5:
            self.protocol_type, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.protocol_type = None
        if version >= 5:
            self.protocol_name, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.protocol_name = None
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 3)
        self.assignments, pos = wire.read_structs(SyncGroupRequestAssignment._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
