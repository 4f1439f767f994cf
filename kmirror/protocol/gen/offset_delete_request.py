"""OffsetDeleteRequest: request, key 47, versions 0, never flexible.

Generated from schemas/kafka/OffsetDeleteRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class OffsetDeleteRequestPartition(Struct):
    """Part of OffsetDeleteRequest."""

    __slots__ = ("partition_index",)

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteRequestPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos


class OffsetDeleteRequestTopic(Struct):
    """Part of OffsetDeleteRequest."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName", map_key=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OffsetDeleteRequestPartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # The partitions.
        partitions: list[OffsetDeleteRequestPartition] = UNSET,  # []OffsetDeleteRequestPartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.name))
        put(wire.count(self.partitions))
        for offset_delete_request_partition in self.partitions:
            offset_delete_request_partition._write(put, version)
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteRequestTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_string(buf, pos)
        n, pos = wire.read_count(buf, pos, 4)
        self.partitions, pos = wire.read_structs(OffsetDeleteRequestPartition._read, buf, pos, n, version)
        return self, pos


class OffsetDeleteRequest(Message):
    """Asks to forget committed offsets."""

    __slots__ = ("group_id", "topics")

    NAME = "OffsetDeleteRequest"
    TYPE = "request"
    API_KEY = 47
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 0), default="", entity="groupId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OffsetDeleteRequestTopic,
        ),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # The topics.
        topics: list[OffsetDeleteRequestTopic] = UNSET,  # []OffsetDeleteRequestTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group_id))
        put(wire.count(self.topics))
        for offset_delete_request_topic in self.topics:
            offset_delete_request_topic._write(put, version)
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_string(buf, pos)
        n, pos = wire.read_count(buf, pos, 6)
        self.topics, pos = wire.read_structs(OffsetDeleteRequestTopic._read, buf, pos, n, version)
        return self, pos
