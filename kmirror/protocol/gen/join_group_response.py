"""JoinGroupResponse: response, key 11, versions 0-9, flexible from 6.

Generated from schemas/kafka/JoinGroupResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_hi, pack_hi = wire.fused("hi")


class JoinGroupResponseMember(Struct):
    """Part of JoinGroupResponse."""

    __slots__ = ("member_id", "group_instance_id", "metadata")

    FIELDS = (
        Field("MemberId", "member_id", "string", (0, 9), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (5, 9), nullable=(5, 9), ignorable=True),
        Field("Metadata", "metadata", "bytes", (0, 9), default=b""),
    )

    def __init__(
        self,
        # Id of the member.
        member_id: str = "",  # string
        # What a static member is called, null for a dynamic one.
        group_instance_id: str | None = None,  # string, v5+, ignorable
        # Any bytes or text of the client's.
        metadata: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.metadata = metadata
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 6 else wire.string)(self.member_id))
        if version >= 5:
            put((wire.compact_nullable_string if version >= 6 else wire.nullable_string)(self.group_instance_id))
        (wire.put_compact_bytes if version >= 6 else wire.put_bytes)(put, self.metadata)
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[JoinGroupResponseMember, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_id, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        if version >= 5:
            self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 6 else wire.read_nullable_string)(buf, pos)
        else:
            self.group_instance_id = None
        self.metadata, pos = (wire.read_compact_bytes if version >= 6 else wire.read_bytes)(buf, pos)
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class JoinGroupResponse(Message):
    """The generation that the member is part of; to the leader with all members."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "generation_id",
        "protocol_type",
        "protocol_name",
        "leader",
        "skip_assignment",
        "member_id",
        "members",
    )

    NAME = "JoinGroupResponse"
    TYPE = "response"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 9
    FLEXIBLE_FROM = 6
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (2, 9), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 9), default=0),
        Field("GenerationId", "generation_id", "int32", (0, 9), default=-1),
        Field("ProtocolType", "protocol_type", "string", (7, 9), nullable=(7, 9), ignorable=True),
        Field("ProtocolName", "protocol_name", "string", (0, 9), nullable=(7, 9), default=""),
        Field("Leader", "leader", "string", (0, 9), default=""),
        Field("SkipAssignment", "skip_assignment", "bool", (9, 9), default=False),
        Field("MemberId", "member_id", "string", (0, 9), default=""),
        Field(
            "Members",
            "members",
            "struct",
            (0, 9),
            is_array=True,
            default=[],
            struct=JoinGroupResponseMember,
        ),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v2+, ignorable
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # Generation of the group.
        generation_id: int = -1,  # int32
        # Kind of protocol, as in consumer.
        protocol_type: str | None = None,  # string, v7+, ignorable
        # The protocol that the group chose.
        protocol_name: str | None = "",  # string, null in v7+
        # Member that assigns.
        leader: str = "",  # string
        # Whether the leader need not assign.
        skip_assignment: bool = False,  # bool, v9+
        # Id of the member.
        member_id: str = "",  # string
        # One entry for each member.
        members: list[JoinGroupResponseMember] = UNSET,  # []JoinGroupResponseMember
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.generation_id = generation_id
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.leader = leader
        self.skip_assignment = skip_assignment
        self.member_id = member_id
        self.members = [] if members is UNSET else members
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 2:
            put(wire.pack_int32(self.throttle_time_ms))
        put(pack_hi(self.error_code, self.generation_id))
        if version >= 7:
            put(wire.compact_nullable_string(self.protocol_type))
        put((wire.compact_nullable_string if version >= 7 else wire.compact_string if version >= 6 else wire.string)(self.protocol_name))
        put((wire.compact_string if version >= 6 else wire.string)(self.leader))
        if version >= 9:
            put(wire.pack_bool(self.skip_assignment))
        elif self.skip_assignment:
            raise wire.Unwritable
        put((wire.compact_string if version >= 6 else wire.string)(self.member_id))
        put((wire.compact_count if version >= 6 else wire.count)(self.members))
        for join_group_response_member in self.members:
            join_group_response_member._write(put, version)
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[JoinGroupResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 2:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        self.error_code, self.generation_id = unpack_hi(buf, pos)
        pos += 6
        if version >= 7:
            self.protocol_type, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.protocol_type = None
        self.protocol_name, pos = (wire.read_compact_nullable_string if version >= 7 else wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        self.leader, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        if version >= 9:
            (self.skip_assignment,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.skip_assignment = False
        self.member_id, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 4)
        self.members, pos = wire.read_structs(JoinGroupResponseMember._read, buf, pos, n, version)
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
