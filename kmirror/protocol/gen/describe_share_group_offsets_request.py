"""DescribeShareGroupOffsetsRequest: request, key 90, versions 0-1, flexible from 0.

Generated from schemas/kafka/DescribeShareGroupOffsetsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeShareGroupOffsetsRequestTopic(Struct):
    """Part of DescribeShareGroupOffsetsRequest."""

    topic_name: str = ""  # string, topicName
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicName", "topic_name", "string", (0, 1), default="", entity="topicName"),
        Field("Partitions", "partitions", "int32", (0, 1), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeShareGroupOffsetsRequestGroup(Struct):
    """Part of DescribeShareGroupOffsetsRequest."""

    group_id: str = ""  # string, groupId
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = field(default_factory=list)  # []DescribeShareGroupOffsetsRequestTopic

    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_nullable_count(self.topics))
        for describe_share_group_offsets_request_topic in self.topics or ():
            describe_share_group_offsets_request_topic._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsRequestGroup, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.topics = None
        else:
            self.topics, pos = wire.read_structs(DescribeShareGroupOffsetsRequestTopic._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeShareGroupOffsetsRequest(Message):
    """DescribeShareGroupOffsetsRequest, versions 0-1."""

    groups: list[DescribeShareGroupOffsetsRequestGroup] = field(default_factory=list)  # []DescribeShareGroupOffsetsRequestGroup

    NAME: ClassVar[str] = "DescribeShareGroupOffsetsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.groups))
        for describe_share_group_offsets_request_group in self.groups:
            describe_share_group_offsets_request_group._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.groups, pos = wire.read_structs(DescribeShareGroupOffsetsRequestGroup._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
