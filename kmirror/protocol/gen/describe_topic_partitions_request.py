"""DescribeTopicPartitionsRequest: request, key 75, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeTopicPartitionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class TopicRequest(Struct):
    """Part of DescribeTopicPartitionsRequest."""

    __slots__ = ("name",)

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Cursor(Struct):
    """Part of DescribeTopicPartitionsRequest."""

    __slots__ = ("topic_name", "partition_index")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        partition_index: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partition_index = partition_index
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.pack_int32(self.partition_index))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Cursor, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeTopicPartitionsRequest(Message):
    """DescribeTopicPartitionsRequest, versions 0."""

    __slots__ = ("topics", "response_partition_limit", "cursor")

    NAME = "DescribeTopicPartitionsRequest"
    TYPE = "request"
    API_KEY = 75
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicRequest),
        Field("ResponsePartitionLimit", "response_partition_limit", "int32", (0, 0), default=2000),
        Field("Cursor", "cursor", "struct", (0, 0), nullable=(0, 0), struct=Cursor),
    )

    def __init__(
        self,
        topics: list[TopicRequest] = UNSET,  # []TopicRequest
        response_partition_limit: int = 2000,  # int32
        cursor: Cursor | None = None,  # Cursor
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        self.response_partition_limit = response_partition_limit
        self.cursor = cursor
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTopicPartitionsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
