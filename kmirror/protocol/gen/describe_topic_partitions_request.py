"""DescribeTopicPartitionsRequest: request, key 75, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeTopicPartitionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicRequest(Struct):
    """Part of DescribeTopicPartitionsRequest."""

    name: str = ""  # string, topicName

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Cursor(Struct):
    """Part of DescribeTopicPartitionsRequest."""

    topic_name: str = ""  # string, topicName
    partition_index: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.pack_int32(self.partition_index))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Cursor, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeTopicPartitionsRequest(Message):
    """DescribeTopicPartitionsRequest, versions 0."""

    topics: list[TopicRequest] = field(default_factory=list)  # []TopicRequest
    response_partition_limit: int = 2000  # int32
    cursor: Cursor | None = None  # Cursor

    NAME: ClassVar[str] = "DescribeTopicPartitionsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 75
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicRequest),
        Field("ResponsePartitionLimit", "response_partition_limit", "int32", (0, 0), default=2000),
        Field("Cursor", "cursor", "struct", (0, 0), nullable=(0, 0), struct=Cursor),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for topic_request in self.topics:
            topic_request._write(put, version)
        put(wire.pack_int32(self.response_partition_limit))
        if self.cursor is None:
            put(b"\xff")
        else:
            put(b"\x01")
            self.cursor._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTopicPartitionsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.topics, pos = wire.read_structs(TopicRequest._read, buf, pos, n, version)
        (self.response_partition_limit,) = wire.unpack_int32(buf, pos)
        pos += 4
        (present,) = wire.unpack_int8(buf, pos)
        pos += 1
        if present < 0:
            self.cursor = None
        else:
            self.cursor, pos = Cursor._read(buf, pos, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
