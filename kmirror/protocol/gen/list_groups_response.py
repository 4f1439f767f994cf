"""ListGroupsResponse: response, key 16, versions 0-5, flexible from 3.

Generated from schemas/kafka/ListGroupsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class ListedGroup(Struct):
    """Part of ListGroupsResponse."""

    __slots__ = ("group_id", "protocol_type", "group_state", "group_type")

    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 5), default="", entity="groupId"),
        Field("ProtocolType", "protocol_type", "string", (0, 5), default=""),
        Field("GroupState", "group_state", "string", (4, 5), default="", ignorable=True),
        Field("GroupType", "group_type", "string", (5, 5), default="", ignorable=True),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # Kind of protocol, as in consumer.
        protocol_type: str = "",  # string
        # State of the group.
        group_state: str = "",  # string, v4+, ignorable
        # Kind of the group.
        group_type: str = "",  # string, v5+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.protocol_type = protocol_type
        self.group_state = group_state
        self.group_type = group_type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.group_id))
        put((wire.compact_string if version >= 3 else wire.string)(self.protocol_type))
        if version >= 4:
            put(wire.compact_string(self.group_state))
        if version >= 5:
            put(wire.compact_string(self.group_type))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListedGroup, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        self.protocol_type, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        if version >= 4:
            self.group_state, pos = wire.read_compact_string(buf, pos)
        else:
            self.group_state = ""
        if version >= 5:
            self.group_type, pos = wire.read_compact_string(buf, pos)
        else:
            self.group_type = ""
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ListGroupsResponse(Message):
    """The groups of this coordinator."""

    __slots__ = ("throttle_time_ms", "error_code", "groups")

    NAME = "ListGroupsResponse"
    TYPE = "response"
    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 5), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
        Field("Groups", "groups", "struct", (0, 5), is_array=True, default=[], struct=ListedGroup),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v1+, ignorable
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # One entry for each group.
        groups: list[ListedGroup] = UNSET,  # []ListedGroup
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.groups = [] if groups is UNSET else groups
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.pack_int32(self.throttle_time_ms))
        put(wire.pack_int16(self.error_code))
        put((wire.compact_count if version >= 3 else wire.count)(self.groups))
        for listed_group in self.groups:
            listed_group._write(put, version)
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListGroupsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 1:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 3)
        self.groups, pos = wire.read_structs(ListedGroup._read, buf, pos, n, version)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
