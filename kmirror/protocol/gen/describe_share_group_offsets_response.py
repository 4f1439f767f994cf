"""DescribeShareGroupOffsetsResponse: response, key 90, versions 0-1, flexible from 0.

Generated from schemas/kafka/DescribeShareGroupOffsetsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_iqi, pack_iqi = wire.fused("iqi")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeShareGroupOffsetsResponsePartition(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    partition_index: int = 0  # int32
    start_offset: int = 0  # int64
    leader_epoch: int = 0  # int32
    lag: int = -1  # int64, v1+, ignorable
    error_code: int = 0  # int16
    error_message: str | None = None  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 1), default=0),
        Field("StartOffset", "start_offset", "int64", (0, 1), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
        Field("Lag", "lag", "int64", (1, 1), default=-1, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1)),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqi(self.partition_index, self.start_offset, self.leader_epoch))
        if version >= 1:
            put(wire.pack_int64(self.lag))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsResponsePartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.start_offset, self.leader_epoch = unpack_iqi(buf, pos)
        pos += 16
        if version >= 1:
            (self.lag,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.lag = -1
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeShareGroupOffsetsResponseTopic(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    topic_name: str = ""  # string, topicName
    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = field(default_factory=list)  # []DescribeShareGroupOffsetsResponsePartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicName", "topic_name", "string", (0, 1), default="", entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=DescribeShareGroupOffsetsResponsePartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for describe_share_group_offsets_response_partition in self.partitions:
            describe_share_group_offsets_response_partition._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsResponseTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.partitions, pos = wire.read_structs(DescribeShareGroupOffsetsResponsePartition._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeShareGroupOffsetsResponseGroup(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    group_id: str = ""  # string, groupId
    topics: list[DescribeShareGroupOffsetsResponseTopic] = field(default_factory=list)  # []DescribeShareGroupOffsetsResponseTopic
    error_code: int = 0  # int16
    error_message: str | None = None  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (0, 1), default="", entity="groupId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=DescribeShareGroupOffsetsResponseTopic,
        ),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1)),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for describe_share_group_offsets_response_topic in self.topics:
            describe_share_group_offsets_response_topic._write(put, version)
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsResponseGroup, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.topics, pos = wire.read_structs(DescribeShareGroupOffsetsResponseTopic._read, buf, pos, n, version)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeShareGroupOffsetsResponse(Message):
    """DescribeShareGroupOffsetsResponse, versions 0-1."""

    throttle_time_ms: int = 0  # int32
    groups: list[DescribeShareGroupOffsetsResponseGroup] = field(default_factory=list)  # []DescribeShareGroupOffsetsResponseGroup

    NAME: ClassVar[str] = "DescribeShareGroupOffsetsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 90
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 1), default=0),
        Field(
            "Groups",
            "groups",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=DescribeShareGroupOffsetsResponseGroup,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.groups))
        for describe_share_group_offsets_response_group in self.groups:
            describe_share_group_offsets_response_group._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.groups, pos = wire.read_structs(DescribeShareGroupOffsetsResponseGroup._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
