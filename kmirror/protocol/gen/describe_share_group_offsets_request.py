"""DescribeShareGroupOffsetsRequest: request, key 90, versions 0-1, flexible from 0.

Generated from schemas/kafka/DescribeShareGroupOffsetsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class DescribeShareGroupOffsetsRequestTopic(Struct):
    """Part of DescribeShareGroupOffsetsRequest."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 1), default="", entity="topicName"),
        Field("Partitions", "partitions", "int32", (0, 1), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        partitions: list[int] = UNSET,  # []int32
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
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeShareGroupOffsetsRequestGroup(Struct):
    """Part of DescribeShareGroupOffsetsRequest."""

    __slots__ = ("group_id", "topics")

    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 1), default="", entity="groupId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 1),
            is_array=True,
            nullable=(0, 1),
            default=[],
            struct=DescribeShareGroupOffsetsRequestTopic,
        ),
    )

    def __init__(
        self,
        group_id: str = "",  # string, groupId
        topics: list[DescribeShareGroupOffsetsRequestTopic] | None = UNSET,  # []DescribeShareGroupOffsetsRequestTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_nullable_count(self.topics))
        for describe_share_group_offsets_request_topic in self.topics or ():
            describe_share_group_offsets_request_topic._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestGroup, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.topics = None
        else:
            self.topics, pos = wire.read_structs(DescribeShareGroupOffsetsRequestTopic._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeShareGroupOffsetsRequest(Message):
    """DescribeShareGroupOffsetsRequest, versions 0-1."""

    __slots__ = ("groups",)

    NAME = "DescribeShareGroupOffsetsRequest"
    TYPE = "request"
    API_KEY = 90
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "Groups",
            "groups",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=DescribeShareGroupOffsetsRequestGroup,
        ),
    )

    def __init__(
        self,
        groups: list[DescribeShareGroupOffsetsRequestGroup] = UNSET,  # []DescribeShareGroupOffsetsRequestGroup
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.groups = [] if groups is UNSET else groups
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.groups))
        for describe_share_group_offsets_request_group in self.groups:
            describe_share_group_offsets_request_group._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.groups, pos = wire.read_structs(DescribeShareGroupOffsetsRequestGroup._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
