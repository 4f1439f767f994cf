"""OffsetFetchRequest: request, key 9, versions 1-10, flexible from 6.

Generated from schemas/kafka/OffsetFetchRequest.json.
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


class OffsetFetchRequestTopic(Struct):
    """Part of OffsetFetchRequest, v1-7."""

    __slots__ = ("name", "partition_indexes")

    FIELDS = (
        Field("Name", "name", "string", (1, 7), default="", entity="topicName"),
        Field("PartitionIndexes", "partition_indexes", "int32", (1, 7), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # Partitions.
        partition_indexes: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partition_indexes = [] if partition_indexes is UNSET else partition_indexes
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 6 else wire.string)(self.name))
        put((wire.compact_count if version >= 6 else wire.count)(self.partition_indexes))
        put(wire.numbers(self.partition_indexes, "i"))
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchRequestTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 4)
        self.partition_indexes, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetFetchRequestTopics(Struct):
    """Part of OffsetFetchRequest, v8+."""

    __slots__ = ("name", "topic_id", "partition_indexes")

    FIELDS = (
        Field("Name", "name", "string", (8, 9), default="", ignorable=True, entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (10, 10), default=Uuid.ZERO, ignorable=True),
        Field("PartitionIndexes", "partition_indexes", "int32", (8, 10), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, v8-9, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v10+, ignorable
        # Partitions.
        partition_indexes: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.topic_id = topic_id
        self.partition_indexes = [] if partition_indexes is UNSET else partition_indexes
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 9:
            put(wire.compact_string(self.name))
        if version >= 10:
            put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partition_indexes))
        put(wire.numbers(self.partition_indexes, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchRequestTopics, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version <= 9:
            self.name, pos = wire.read_compact_string(buf, pos)
        else:
            self.name = ""
        if version >= 10:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partition_indexes, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class OffsetFetchRequestGroup(Struct):
    """Part of OffsetFetchRequest, v8+."""

    __slots__ = ("group_id", "member_id", "member_epoch", "topics")

    FIELDS = (
        Field("GroupId", "group_id", "string", (8, 10), default="", entity="groupId"),
        Field("MemberId", "member_id", "string", (9, 10), nullable=(9, 10), ignorable=True),
        Field("MemberEpoch", "member_epoch", "int32", (9, 10), default=-1, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (8, 10),
            is_array=True,
            nullable=(8, 10),
            default=[],
            struct=OffsetFetchRequestTopics,
        ),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # Id of the member.
        member_id: str | None = None,  # string, v9+, ignorable
        # Epoch of the member: 0 to join, -1 to leave, -2 to leave as a static member that comes back.
        member_epoch: int = -1,  # int32, v9+, ignorable
        # Which topics; null asks for all.
        topics: list[OffsetFetchRequestTopics] | None = UNSET,  # []OffsetFetchRequestTopics
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        if version >= 9:
            put(wire.compact_nullable_string(self.member_id))
        if version >= 9:
            put(wire.pack_int32(self.member_epoch))
        put(wire.compact_nullable_count(self.topics))
        for offset_fetch_request_topics in self.topics or ():
            offset_fetch_request_topics._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchRequestGroup, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        if version >= 9:
            self.member_id, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.member_id = None
        if version >= 9:
            (self.member_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.member_epoch = -1
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.topics = None
        else:
            self.topics, pos = wire.read_structs(OffsetFetchRequestTopics._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class OffsetFetchRequest(Message):
    """Asks for the committed offsets of groups."""

    __slots__ = ("group_id", "topics", "groups", "require_stable")

    NAME = "OffsetFetchRequest"
    TYPE = "request"
    API_KEY = 9
    MIN_VERSION = 1
    MAX_VERSION = 10
    FLEXIBLE_FROM = 6
    FIELDS = (
        Field("GroupId", "group_id", "string", (1, 7), default="", entity="groupId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (1, 7),
            is_array=True,
            nullable=(2, 7),
            default=[],
            struct=OffsetFetchRequestTopic,
        ),
        Field(
            "Groups",
            "groups",
            "struct",
            (8, 10),
            is_array=True,
            default=[],
            struct=OffsetFetchRequestGroup,
        ),
        Field("RequireStable", "require_stable", "bool", (7, 10), default=False),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, v1-7, groupId
        # Which topics; null asks for all.
        topics: list[OffsetFetchRequestTopic] | None = UNSET,  # []OffsetFetchRequestTopic, v1-7, null in v2-7
        # One entry for each group.
        groups: list[OffsetFetchRequestGroup] = UNSET,  # []OffsetFetchRequestGroup, v8+
        # Whether offsets of open transactions are an error.
        require_stable: bool = False,  # bool, v7+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        self.groups = [] if groups is UNSET else groups
        self.require_stable = require_stable
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 7:
            put((wire.compact_string if version >= 6 else wire.string)(self.group_id))
        elif self.group_id:
            raise wire.Unwritable
        if version <= 7:
            put((wire.compact_nullable_count if version >= 6 else wire.nullable_count if version >= 2 else wire.count)(self.topics))
            for offset_fetch_request_topic in self.topics or ():
                offset_fetch_request_topic._write(put, version)
        elif (self.topics is None or len(self.topics)):
            raise wire.Unwritable
        if version >= 8:
            put(wire.compact_count(self.groups))
            for offset_fetch_request_group in self.groups:
                offset_fetch_request_group._write(put, version)
        elif self.groups:
            raise wire.Unwritable
        if version >= 7:
            put(wire.pack_bool(self.require_stable))
        elif self.require_stable:
            raise wire.Unwritable
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version <= 7:
            self.group_id, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        else:
            self.group_id = ""
        if version <= 7:
            n, pos = (wire.read_compact_nullable_count if version >= 6 else wire.read_nullable_count if version >= 2 else wire.read_count)(buf, pos, 3)
            if n < 0:
                self.topics = None
            else:
                self.topics, pos = wire.read_structs(OffsetFetchRequestTopic._read, buf, pos, n, version)
        else:
            self.topics = []
        if version >= 8:
            n, pos = wire.read_compact_count(buf, pos, 3)
            self.groups, pos = wire.read_structs(OffsetFetchRequestGroup._read, buf, pos, n, version)
        else:
            self.groups = []
        if version >= 7:
            (self.require_stable,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.require_stable = False
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
