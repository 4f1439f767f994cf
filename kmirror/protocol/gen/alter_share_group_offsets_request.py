"""AlterShareGroupOffsetsRequest: request, key 91, versions 0, flexible from 0.

Generated from schemas/kafka/AlterShareGroupOffsetsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iq, pack_iq = wire.fused("iq")


class AlterShareGroupOffsetsRequestPartition(Struct):
    """Part of AlterShareGroupOffsetsRequest."""

    __slots__ = ("partition_index", "start_offset")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("StartOffset", "start_offset", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        start_offset: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.start_offset = start_offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.partition_index, self.start_offset))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsRequestPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.start_offset = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterShareGroupOffsetsRequestTopic(Struct):
    """Part of AlterShareGroupOffsetsRequest."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName", map_key=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=AlterShareGroupOffsetsRequestPartition,
        ),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        partitions: list[AlterShareGroupOffsetsRequestPartition] = UNSET,  # []AlterShareGroupOffsetsRequestPartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for alter_share_group_offsets_request_partition in self.partitions:
            alter_share_group_offsets_request_partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsRequestTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 13)
        self.partitions, pos = wire.read_structs(AlterShareGroupOffsetsRequestPartition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterShareGroupOffsetsRequest(Message):
    """AlterShareGroupOffsetsRequest, versions 0."""

    __slots__ = ("group_id", "topics")

    NAME = "AlterShareGroupOffsetsRequest"
    TYPE = "request"
    API_KEY = 91
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 0), default="", entity="groupId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=AlterShareGroupOffsetsRequestTopic,
        ),
    )

    def __init__(
        self,
        group_id: str = "",  # string, groupId
        topics: list[AlterShareGroupOffsetsRequestTopic] = UNSET,  # []AlterShareGroupOffsetsRequestTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for alter_share_group_offsets_request_topic in self.topics:
            alter_share_group_offsets_request_topic._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(AlterShareGroupOffsetsRequestTopic._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
