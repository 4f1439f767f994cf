"""JoinGroupRequest: request, key 11, versions 0-9, flexible from 6.

Generated from schemas/kafka/JoinGroupRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class JoinGroupRequestProtocol(Struct):
    """Part of JoinGroupRequest."""

    __slots__ = ("name", "metadata")

    FIELDS = (
        Field("Name", "name", "string", (0, 9), default="", map_key=True),
        Field("Metadata", "metadata", "bytes", (0, 9), default=b""),
    )

    def __init__(
        self,
        # Name of the protocol.
        name: str = "",  # string
        # Any bytes or text of the client's.
        metadata: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.metadata = metadata
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 6 else wire.string)(self.name))
        (wire.put_compact_bytes if version >= 6 else wire.put_bytes)(put, self.metadata)
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[JoinGroupRequestProtocol, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        self.metadata, pos = (wire.read_compact_bytes if version >= 6 else wire.read_bytes)(buf, pos)
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class JoinGroupRequest(Message):
    """A classic member asks to join its group."""

    __slots__ = (
        "group_id",
        "session_timeout_ms",
        "rebalance_timeout_ms",
        "member_id",
        "group_instance_id",
        "protocol_type",
        "protocols",
        "reason",
    )

    NAME = "JoinGroupRequest"
    TYPE = "request"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 9
    FLEXIBLE_FROM = 6
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 9), default="", entity="groupId"),
        Field("SessionTimeoutMs", "session_timeout_ms", "int32", (0, 9), default=0),
        Field("RebalanceTimeoutMs", "rebalance_timeout_ms", "int32", (1, 9), default=-1, ignorable=True),
        Field("MemberId", "member_id", "string", (0, 9), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (5, 9), nullable=(5, 9)),
        Field("ProtocolType", "protocol_type", "string", (0, 9), default=""),
        Field(
            "Protocols",
            "protocols",
            "struct",
            (0, 9),
            is_array=True,
            default=[],
            struct=JoinGroupRequestProtocol,
        ),
        Field("Reason", "reason", "string", (8, 9), nullable=(8, 9), ignorable=True),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # After this silence the member is out, in milliseconds.
        session_timeout_ms: int = 0,  # int32
        # How long the group waits for this member in a rebalance, in milliseconds.
        rebalance_timeout_ms: int = -1,  # int32, v1+, ignorable
        # Id of the member.
        member_id: str = "",  # string
        # What a static member is called, null for a dynamic one.
        group_instance_id: str | None = None,  # string, v5+
        # Kind of protocol, as in consumer.
        protocol_type: str = "",  # string
        # What the member can speak, best first.
        protocols: list[JoinGroupRequestProtocol] = UNSET,  # []JoinGroupRequestProtocol
        # Why, for the broker's log.
        reason: str | None = None,  # string, v8+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.session_timeout_ms = session_timeout_ms
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.protocol_type = protocol_type
        self.protocols = [] if protocols is UNSET else protocols
        self.reason = reason
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 6 else wire.string)(self.group_id))
        put(wire.pack_int32(self.session_timeout_ms))
        if version >= 1:
            put(wire.pack_int32(self.rebalance_timeout_ms))
        put((wire.compact_string if version >= 6 else wire.string)(self.member_id))
        if version >= 5:
            put((wire.compact_nullable_string if version >= 6 else wire.nullable_string)(self.group_instance_id))
        elif self.group_instance_id is not None:
            raise wire.Unwritable
        put((wire.compact_string if version >= 6 else wire.string)(self.protocol_type))
        put((wire.compact_count if version >= 6 else wire.count)(self.protocols))
        for join_group_request_protocol in self.protocols:
            join_group_request_protocol._write(put, version)
        if version >= 8:
            put(wire.compact_nullable_string(self.reason))
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[JoinGroupRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        (self.session_timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 1:
            (self.rebalance_timeout_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.rebalance_timeout_ms = -1
        self.member_id, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        if version >= 5:
            self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 6 else wire.read_nullable_string)(buf, pos)
        else:
            self.group_instance_id = None
        self.protocol_type, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 3)
        self.protocols, pos = wire.read_structs(JoinGroupRequestProtocol._read, buf, pos, n, version)
        if version >= 8:
            self.reason, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.reason = None
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
