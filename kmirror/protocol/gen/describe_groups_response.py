"""DescribeGroupsResponse: response, key 15, versions 0-6, flexible from 5.

Generated from schemas/kafka/DescribeGroupsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class DescribedGroupMember(Struct):
    """Part of DescribeGroupsResponse."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "member_metadata",
        "member_assignment",
    )

    FIELDS = (
        Field("MemberId", "member_id", "string", (0, 6), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (4, 6), nullable=(4, 6), ignorable=True),
        Field("ClientId", "client_id", "string", (0, 6), default=""),
        Field("ClientHost", "client_host", "string", (0, 6), default=""),
        Field("MemberMetadata", "member_metadata", "bytes", (0, 6), default=b""),
        Field("MemberAssignment", "member_assignment", "bytes", (0, 6), default=b""),
    )

    def __init__(
        self,
        # Id of the member.
        member_id: str = "",  # string
        # What a static member is called, null for a dynamic one.
        group_instance_id: str | None = None,  # string, v4+, ignorable
        # Id that the client gave.
        client_id: str = "",  # string
        # Host of the client.
        client_host: str = "",  # string
        # What the member said when it joined.
        member_metadata: bytes = b"",  # bytes
        # The member's assignment, in the form of the group's protocol.
        member_assignment: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.member_metadata = member_metadata
        self.member_assignment = member_assignment
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 5 else wire.string)(self.member_id))
        if version >= 4:
            put((wire.compact_nullable_string if version >= 5 else wire.nullable_string)(self.group_instance_id))
        put((wire.compact_string if version >= 5 else wire.string)(self.client_id))
        put((wire.compact_string if version >= 5 else wire.string)(self.client_host))
        (wire.put_compact_bytes if version >= 5 else wire.put_bytes)(put, self.member_metadata)
        (wire.put_compact_bytes if version >= 5 else wire.put_bytes)(put, self.member_assignment)
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedGroupMember, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_id, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        if version >= 4:
            self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 5 else wire.read_nullable_string)(buf, pos)
        else:
            self.group_instance_id = None
        self.client_id, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        self.client_host, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        self.member_metadata, pos = (wire.read_compact_bytes if version >= 5 else wire.read_bytes)(buf, pos)
        self.member_assignment, pos = (wire.read_compact_bytes if version >= 5 else wire.read_bytes)(buf, pos)
        if version >= 5:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribedGroup(Struct):
    """Part of DescribeGroupsResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "protocol_type",
        "protocol_data",
        "members",
        "authorized_operations",
    )

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 6), default=0),
        Field("ErrorMessage", "error_message", "string", (6, 6), nullable=(6, 6)),
        Field("GroupId", "group_id", "string", (0, 6), default="", entity="groupId"),
        Field("GroupState", "group_state", "string", (0, 6), default=""),
        Field("ProtocolType", "protocol_type", "string", (0, 6), default=""),
        Field("ProtocolData", "protocol_data", "string", (0, 6), default=""),
        Field("Members", "members", "struct", (0, 6), is_array=True, default=[], struct=DescribedGroupMember),
        Field("AuthorizedOperations", "authorized_operations", "int32", (3, 6), default=-2147483648),
    )

    def __init__(
        self,
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # What went wrong, null if all is well.
        error_message: str | None = None,  # string, v6+
        # Id of the group.
        group_id: str = "",  # string, groupId
        # State of the group.
        group_state: str = "",  # string
        # Kind of protocol, as in consumer.
        protocol_type: str = "",  # string
        # The protocol that the group chose.
        protocol_data: str = "",  # string
        # One entry for each member.
        members: list[DescribedGroupMember] = UNSET,  # []DescribedGroupMember
        # Bit field of what the caller may do; the least int32 if it was not asked for.
        authorized_operations: int = -2147483648,  # int32, v3+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.protocol_type = protocol_type
        self.protocol_data = protocol_data
        self.members = [] if members is UNSET else members
        self.authorized_operations = authorized_operations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        if version >= 6:
            put(wire.compact_nullable_string(self.error_message))
        elif self.error_message is not None:
            raise wire.Unwritable
        put((wire.compact_string if version >= 5 else wire.string)(self.group_id))
        put((wire.compact_string if version >= 5 else wire.string)(self.group_state))
        put((wire.compact_string if version >= 5 else wire.string)(self.protocol_type))
        put((wire.compact_string if version >= 5 else wire.string)(self.protocol_data))
        put((wire.compact_count if version >= 5 else wire.count)(self.members))
        for described_group_member in self.members:
            described_group_member._write(put, version)
        if version >= 3:
            put(wire.pack_int32(self.authorized_operations))
        elif self.authorized_operations != -2147483648:
            raise wire.Unwritable
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedGroup, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 6:
            self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.error_message = None
        self.group_id, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        self.group_state, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        self.protocol_type, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        self.protocol_data, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 7)
        self.members, pos = wire.read_structs(DescribedGroupMember._read, buf, pos, n, version)
        if version >= 3:
            (self.authorized_operations,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.authorized_operations = -2147483648
        if version >= 5:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeGroupsResponse(Message):
    """Classic groups with their members."""

    __slots__ = ("throttle_time_ms", "groups")

    NAME = "DescribeGroupsResponse"
    TYPE = "response"
    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_FROM = 5
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 6), default=0, ignorable=True),
        Field("Groups", "groups", "struct", (0, 6), is_array=True, default=[], struct=DescribedGroup),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v1+, ignorable
        # One entry for each group.
        groups: list[DescribedGroup] = UNSET,  # []DescribedGroup
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is UNSET else groups
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 5 else wire.count)(self.groups))
        for described_group in self.groups:
            described_group._write(put, version)
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeGroupsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 1:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 12)
        self.groups, pos = wire.read_structs(DescribedGroup._read, buf, pos, n, version)
        if version >= 5:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
