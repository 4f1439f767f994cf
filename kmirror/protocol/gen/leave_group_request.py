"""LeaveGroupRequest: request, key 13, versions 0-5, flexible from 4.

Generated from schemas/kafka/LeaveGroupRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class MemberIdentity(Struct):
    """Part of LeaveGroupRequest, v3+."""

    __slots__ = ("member_id", "group_instance_id", "reason")

    FIELDS = (
        Field("MemberId", "member_id", "string", (3, 5), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (3, 5), nullable=(3, 5)),
        Field("Reason", "reason", "string", (5, 5), nullable=(5, 5), ignorable=True),
    )

    def __init__(
        self,
        # Id of the member.
        member_id: str = "",  # string
        # What a static member is called, null for a dynamic one.
        group_instance_id: str | None = None,  # string
        # Why, for the broker's log.
        reason: str | None = None,  # string, v5+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.reason = reason
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.member_id))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.group_instance_id))
        if version >= 5:
            put(wire.compact_nullable_string(self.reason))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MemberIdentity, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        if version >= 5:
            self.reason, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.reason = None
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class LeaveGroupRequest(Message):
    """Members leave their group."""

    __slots__ = ("group_id", "member_id", "members")

    NAME = "LeaveGroupRequest"
    TYPE = "request"
    API_KEY = 13
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 5), default="", entity="groupId"),
        Field("MemberId", "member_id", "string", (0, 2), default=""),
        Field("Members", "members", "struct", (3, 5), is_array=True, default=[], struct=MemberIdentity),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # Id of the member.
        member_id: str = "",  # string, v0-2
        # One entry for each member.
        members: list[MemberIdentity] = UNSET,  # []MemberIdentity, v3+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.member_id = member_id
        self.members = [] if members is UNSET else members
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.group_id))
        if version <= 2:
            put(wire.string(self.member_id))
        elif self.member_id:
            raise wire.Unwritable
        if version >= 3:
            put((wire.compact_count if version >= 4 else wire.count)(self.members))
            for member_identity in self.members:
                member_identity._write(put, version)
        elif self.members:
            raise wire.Unwritable
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaveGroupRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        if version <= 2:
            self.member_id, pos = wire.read_string(buf, pos)
        else:
            self.member_id = ""
        if version >= 3:
            n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 3)
            self.members, pos = wire.read_structs(MemberIdentity._read, buf, pos, n, version)
        else:
            self.members = []
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
