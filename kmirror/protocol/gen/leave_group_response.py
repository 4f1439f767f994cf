"""LeaveGroupResponse: response, key 13, versions 0-5, flexible from 4.

Generated from schemas/kafka/LeaveGroupResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class MemberResponse(Struct):
    """Part of LeaveGroupResponse, v3+."""

    __slots__ = ("member_id", "group_instance_id", "error_code")

    FIELDS = (
        Field("MemberId", "member_id", "string", (3, 5), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (3, 5), nullable=(3, 5), default=""),
        Field("ErrorCode", "error_code", "int16", (3, 5), default=0),
    )

    def __init__(
        self,
        # Id of the member.
        member_id: str = "",  # string
        # What a static member is called, null for a dynamic one.
        group_instance_id: str | None = "",  # string
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.member_id))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.group_instance_id))
        put(wire.pack_int16(self.error_code))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MemberResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class LeaveGroupResponse(Message):
    """Says for each member whether it left."""

    __slots__ = ("throttle_time_ms", "error_code", "members")

    NAME = "LeaveGroupResponse"
    TYPE = "response"
    API_KEY = 13
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 5), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
        Field("Members", "members", "struct", (3, 5), is_array=True, default=[], struct=MemberResponse),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v1+, ignorable
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # One entry for each member.
        members: list[MemberResponse] = UNSET,  # []MemberResponse, v3+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.members = [] if members is UNSET else members
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.pack_int32(self.throttle_time_ms))
        put(wire.pack_int16(self.error_code))
        if version >= 3:
            put((wire.compact_count if version >= 4 else wire.count)(self.members))
            for member_response in self.members:
                member_response._write(put, version)
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaveGroupResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 1:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 3:
            n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 5)
            self.members, pos = wire.read_structs(MemberResponse._read, buf, pos, n, version)
        else:
            self.members = []
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
