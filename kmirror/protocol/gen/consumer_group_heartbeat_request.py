"""ConsumerGroupHeartbeatRequest: request, key 68, versions 0-1, flexible from 0.

Generated from schemas/kafka/ConsumerGroupHeartbeatRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag


class TopicPartitions(Struct):
    """Part of ConsumerGroupHeartbeatRequest."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field("Partitions", "partitions", "int32", (0, 1), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid
        # The partitions.
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ConsumerGroupHeartbeatRequest(Message):
    """A member of KIP-848's protocol joins, stays or leaves."""

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "subscribed_topic_names",
        "subscribed_topic_regex",
        "server_assignor",
        "topic_partitions",
    )

    NAME = "ConsumerGroupHeartbeatRequest"
    TYPE = "request"
    API_KEY = 68
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 1), default="", entity="groupId"),
        Field("MemberId", "member_id", "string", (0, 1), default=""),
        Field("MemberEpoch", "member_epoch", "int32", (0, 1), default=0),
        Field("InstanceId", "instance_id", "string", (0, 1), nullable=(0, 1)),
        Field("RackId", "rack_id", "string", (0, 1), nullable=(0, 1)),
        Field("RebalanceTimeoutMs", "rebalance_timeout_ms", "int32", (0, 1), default=-1),
        Field(
            "SubscribedTopicNames",
            "subscribed_topic_names",
            "string",
            (0, 1),
            is_array=True,
            nullable=(0, 1),
            entity="topicName",
        ),
        Field("SubscribedTopicRegex", "subscribed_topic_regex", "string", (1, 1), nullable=(1, 1)),
        Field("ServerAssignor", "server_assignor", "string", (0, 1), nullable=(0, 1)),
        Field(
            "TopicPartitions",
            "topic_partitions",
            "struct",
            (0, 1),
            is_array=True,
            nullable=(0, 1),
            struct=TopicPartitions,
        ),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # Id of the member.
        member_id: str = "",  # string
        # Epoch of the member: 0 to join, -1 to leave, -2 to leave as a static member that comes back.
        member_epoch: int = 0,  # int32
        # What a static member is called, null for a dynamic one.
        instance_id: str | None = None,  # string
        # Rack of the client.
        rack_id: str | None = None,  # string
        # How long the group waits for this member in a rebalance, in milliseconds.
        rebalance_timeout_ms: int = -1,  # int32
        # Topics subscribed to by name.
        subscribed_topic_names: list[str] | None = None,  # []string, topicName
        # Pattern of topics subscribed to.
        subscribed_topic_regex: str | None = None,  # string, v1+
        # Assignor that the member wishes for, null for the group's.
        server_assignor: str | None = None,  # string
        # Partitions by topic.
        topic_partitions: list[TopicPartitions] | None = None,  # []TopicPartitions
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.subscribed_topic_names = subscribed_topic_names
        self.subscribed_topic_regex = subscribed_topic_regex
        self.server_assignor = server_assignor
        self.topic_partitions = topic_partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_string(self.member_id))
        put(wire.pack_int32(self.member_epoch))
        put(wire.compact_nullable_string(self.instance_id))
        put(wire.compact_nullable_string(self.rack_id))
        put(wire.pack_int32(self.rebalance_timeout_ms))
        put(wire.compact_nullable_count(self.subscribed_topic_names))
        for text in self.subscribed_topic_names or ():
            put(wire.compact_string(text))
        if version >= 1:
            put(wire.compact_nullable_string(self.subscribed_topic_regex))
        elif self.subscribed_topic_regex is not None:
            raise wire.Unwritable
        put(wire.compact_nullable_string(self.server_assignor))
        put(wire.compact_nullable_count(self.topic_partitions))
        for topic_partitions in self.topic_partitions or ():
            topic_partitions._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupHeartbeatRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        self.member_id, pos = wire.read_compact_string(buf, pos)
        (self.member_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.instance_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.rack_id, pos = wire.read_compact_nullable_string(buf, pos)
        (self.rebalance_timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_nullable_count(buf, pos, 1)
        if n < 0:
            self.subscribed_topic_names = None
        else:
            self.subscribed_topic_names, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if version >= 1:
            self.subscribed_topic_regex, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.subscribed_topic_regex = None
        self.server_assignor, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_nullable_count(buf, pos, 18)
        if n < 0:
            self.topic_partitions = None
        else:
            self.topic_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
