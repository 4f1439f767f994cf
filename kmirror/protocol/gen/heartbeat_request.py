"""HeartbeatRequest: request, key 12, versions 0-4, flexible from 4.

Generated from schemas/kafka/HeartbeatRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class HeartbeatRequest(Message):
    """Says that a classic member is alive."""

    __slots__ = ("group_id", "generation_id", "member_id", "group_instance_id")

    NAME = "HeartbeatRequest"
    TYPE = "request"
    API_KEY = 12
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 4), default="", entity="groupId"),
        Field("GenerationId", "generation_id", "int32", (0, 4), default=0),
        Field("MemberId", "member_id", "string", (0, 4), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (3, 4), nullable=(3, 4)),
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
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
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
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[HeartbeatRequest, int]:
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
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
