"""ShareGroupHeartbeatRequest: request, key 76, versions 1, flexible from 0.

Generated from schemas/kafka/ShareGroupHeartbeatRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ShareGroupHeartbeatRequest(Message):
    """ShareGroupHeartbeatRequest, versions 1."""

    __slots__ = ("group_id", "member_id", "member_epoch", "rack_id", "subscribed_topic_names")

    NAME = "ShareGroupHeartbeatRequest"
    TYPE = "request"
    API_KEY = 76
    MIN_VERSION = 1
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupId", "group_id", "string", (1, 1), default="", entity="groupId"),
        Field("MemberId", "member_id", "string", (1, 1), default=""),
        Field("MemberEpoch", "member_epoch", "int32", (1, 1), default=0),
        Field("RackId", "rack_id", "string", (1, 1), nullable=(1, 1)),
        Field(
            "SubscribedTopicNames",
            "subscribed_topic_names",
            "string",
            (1, 1),
            is_array=True,
            nullable=(1, 1),
            entity="topicName",
        ),
    )

    def __init__(
        self,
        group_id: str = "",  # string, groupId
        member_id: str = "",  # string
        member_epoch: int = 0,  # int32
        rack_id: str | None = None,  # string
        subscribed_topic_names: list[str] | None = None,  # []string, topicName
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.rack_id = rack_id
        self.subscribed_topic_names = subscribed_topic_names
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_string(self.member_id))
        put(wire.pack_int32(self.member_epoch))
        put(wire.compact_nullable_string(self.rack_id))
        put(wire.compact_nullable_count(self.subscribed_topic_names))
        for text in self.subscribed_topic_names or ():
            put(wire.compact_string(text))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupHeartbeatRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        self.member_id, pos = wire.read_compact_string(buf, pos)
        (self.member_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.rack_id, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_nullable_count(buf, pos, 1)
        if n < 0:
            self.subscribed_topic_names = None
        else:
            self.subscribed_topic_names, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
