"""GroupMetadataValue: coordinator-value, key 2, versions 0-4, flexible from 4.

Generated from schemas/coordinator/GroupMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class MemberMetadata(Struct):
    """Part of GroupMetadataValue."""

    __slots__ = (
        "member_id",
        "group_instance_id",
        "client_id",
        "client_host",
        "rebalance_timeout",
        "session_timeout",
        "subscription",
        "assignment",
    )

    FIELDS = (
        Field("memberId", "member_id", "string", (0, 4), default=""),
        Field("groupInstanceId", "group_instance_id", "string", (3, 4), nullable=(3, 4), ignorable=True),
        Field("clientId", "client_id", "string", (0, 4), default=""),
        Field("clientHost", "client_host", "string", (0, 4), default=""),
        Field("rebalanceTimeout", "rebalance_timeout", "int32", (1, 4), default=-1, ignorable=True),
        Field("sessionTimeout", "session_timeout", "int32", (0, 4), default=0),
        Field("subscription", "subscription", "bytes", (0, 4), default=b""),
        Field("assignment", "assignment", "bytes", (0, 4), default=b""),
    )

    def __init__(
        self,
        member_id: str = "",  # string
        group_instance_id: str | None = None,  # string, v3+, ignorable
        client_id: str = "",  # string
        client_host: str = "",  # string
        rebalance_timeout: int = -1,  # int32, v1+, ignorable
        session_timeout: int = 0,  # int32
        subscription: bytes = b"",  # bytes
        assignment: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout = rebalance_timeout
        self.session_timeout = session_timeout
        self.subscription = subscription
        self.assignment = assignment
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.member_id))
        if version >= 3:
            put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.group_instance_id))
        put((wire.compact_string if version >= 4 else wire.string)(self.client_id))
        put((wire.compact_string if version >= 4 else wire.string)(self.client_host))
        if version >= 1:
            put(wire.pack_int32(self.rebalance_timeout))
        put(wire.pack_int32(self.session_timeout))
        (wire.put_compact_bytes if version >= 4 else wire.put_bytes)(put, self.subscription)
        (wire.put_compact_bytes if version >= 4 else wire.put_bytes)(put, self.assignment)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MemberMetadata, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        if version >= 3:
            self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        else:
            self.group_instance_id = None
        self.client_id, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        self.client_host, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        if version >= 1:
            (self.rebalance_timeout,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.rebalance_timeout = -1
        (self.session_timeout,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.subscription, pos = (wire.read_compact_bytes if version >= 4 else wire.read_bytes)(buf, pos)
        self.assignment, pos = (wire.read_compact_bytes if version >= 4 else wire.read_bytes)(buf, pos)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class GroupMetadataValue(Message):
    """GroupMetadataValue, versions 0-4."""

    __slots__ = ("protocol_type", "generation", "protocol", "leader", "current_state_timestamp", "members")

    NAME = "GroupMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("protocolType", "protocol_type", "string", (0, 4), default=""),
        Field("generation", "generation", "int32", (0, 4), default=0),
        Field("protocol", "protocol", "string", (0, 4), nullable=(0, 4), default=""),
        Field("leader", "leader", "string", (0, 4), nullable=(0, 4), default=""),
        Field(
            "currentStateTimestamp",
            "current_state_timestamp",
            "int64",
            (2, 4),
            default=-1,
            ignorable=True,
        ),
        Field("members", "members", "struct", (0, 4), is_array=True, default=[], struct=MemberMetadata),
    )

    def __init__(
        self,
        protocol_type: str = "",  # string
        generation: int = 0,  # int32
        protocol: str | None = "",  # string
        leader: str | None = "",  # string
        current_state_timestamp: int = -1,  # int64, v2+, ignorable
        members: list[MemberMetadata] = UNSET,  # []MemberMetadata
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.protocol_type = protocol_type
        self.generation = generation
        self.protocol = protocol
        self.leader = leader
        self.current_state_timestamp = current_state_timestamp
        self.members = [] if members is UNSET else members
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.protocol_type))
        put(wire.pack_int32(self.generation))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.protocol))
        put((wire.compact_nullable_string if version >= 4 else wire.nullable_string)(self.leader))
        if version >= 2:
            put(wire.pack_int64(self.current_state_timestamp))
        put((wire.compact_count if version >= 4 else wire.count)(self.members))
        for member_metadata in self.members:
            member_metadata._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[GroupMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.protocol_type, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        (self.generation,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.protocol, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        self.leader, pos = (wire.read_compact_nullable_string if version >= 4 else wire.read_nullable_string)(buf, pos)
        if version >= 2:
            (self.current_state_timestamp,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.current_state_timestamp = -1
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 15)
        self.members, pos = wire.read_structs(MemberMetadata._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
