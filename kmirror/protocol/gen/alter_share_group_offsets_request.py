"""AlterShareGroupOffsetsRequest: request, key 91, versions 0, flexible from 0.

Generated from schemas/kafka/AlterShareGroupOffsetsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_iq, pack_iq = wire.fused("iq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterShareGroupOffsetsRequestPartition(Struct):
    """Part of AlterShareGroupOffsetsRequest."""

    partition_index: int = 0  # int32
    start_offset: int = 0  # int64

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("StartOffset", "start_offset", "int64", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.partition_index, self.start_offset))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsRequestPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.start_offset = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterShareGroupOffsetsRequestTopic(Struct):
    """Part of AlterShareGroupOffsetsRequest."""

    topic_name: str = ""  # string, topicName
    partitions: list[AlterShareGroupOffsetsRequestPartition] = field(default_factory=list)  # []AlterShareGroupOffsetsRequestPartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for alter_share_group_offsets_request_partition in self.partitions:
            alter_share_group_offsets_request_partition._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsRequestTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 13)
        self.partitions, pos = wire.read_structs(AlterShareGroupOffsetsRequestPartition._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterShareGroupOffsetsRequest(Message):
    """AlterShareGroupOffsetsRequest, versions 0."""

    group_id: str = ""  # string, groupId
    topics: list[AlterShareGroupOffsetsRequestTopic] = field(default_factory=list)  # []AlterShareGroupOffsetsRequestTopic

    NAME: ClassVar[str] = "AlterShareGroupOffsetsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 91
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for alter_share_group_offsets_request_topic in self.topics:
            alter_share_group_offsets_request_topic._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(AlterShareGroupOffsetsRequestTopic._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
