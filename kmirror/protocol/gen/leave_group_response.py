"""LeaveGroupResponse: response, key 13, versions 0-5, flexible from 4.

Generated from schemas/kafka/LeaveGroupResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class MemberResponse(Struct):
    """Part of LeaveGroupResponse, v3+."""

    member_id: str = ""  # string
    group_instance_id: str | None = ""  # string
    error_code: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("MemberId", "member_id", "string", (3, 5), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (3, 5), nullable=(3, 5), default=""),
        Field("ErrorCode", "error_code", "int16", (3, 5), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.member_id))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.group_instance_id))
        put(wire.pack_int16(self.error_code))
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MemberResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.member_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class LeaveGroupResponse(Message):
    """LeaveGroupResponse, versions 0-5."""

    throttle_time_ms: int = 0  # int32, v1+, ignorable
    error_code: int = 0  # int16
    members: list[MemberResponse] = field(default_factory=list)  # []MemberResponse, v3+

    NAME: ClassVar[str] = "LeaveGroupResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 13
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 5), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
        Field("Members", "members", "struct", (3, 5), is_array=True, default=[], struct=MemberResponse),
    )

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
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaveGroupResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
