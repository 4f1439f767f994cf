"""DescribeShareGroupOffsetsResponse: response, key 90, versions 0-1, flexible from 0.

Generated from schemas/kafka/DescribeShareGroupOffsetsResponse.json.
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

unpack_iqi, pack_iqi = wire.fused("iqi")


class DescribeShareGroupOffsetsResponsePartition(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = ("partition_index", "start_offset", "leader_epoch", "lag", "error_code", "error_message")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 1), default=0),
        Field("StartOffset", "start_offset", "int64", (0, 1), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
        Field("Lag", "lag", "int64", (1, 1), default=-1, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1)),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        start_offset: int = 0,  # int64
        leader_epoch: int = 0,  # int32
        lag: int = -1,  # int64, v1+, ignorable
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.start_offset = start_offset
        self.leader_epoch = leader_epoch
        self.lag = lag
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqi(self.partition_index, self.start_offset, self.leader_epoch))
        if version >= 1:
            put(wire.pack_int64(self.lag))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsResponsePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeShareGroupOffsetsResponseTopic(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = ("topic_name", "topic_id", "partitions")

    FIELDS = (
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

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[DescribeShareGroupOffsetsResponsePartition] = UNSET,  # []DescribeShareGroupOffsetsResponsePartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for describe_share_group_offsets_response_partition in self.partitions:
            describe_share_group_offsets_response_partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsResponseTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.partitions, pos = wire.read_structs(DescribeShareGroupOffsetsResponsePartition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeShareGroupOffsetsResponseGroup(Struct):
    """Part of DescribeShareGroupOffsetsResponse."""

    __slots__ = ("group_id", "topics", "error_code", "error_message")

    FIELDS = (
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

    def __init__(
        self,
        group_id: str = "",  # string, groupId
        topics: list[DescribeShareGroupOffsetsResponseTopic] = UNSET,  # []DescribeShareGroupOffsetsResponseTopic
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for describe_share_group_offsets_response_topic in self.topics:
            describe_share_group_offsets_response_topic._write(put, version)
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsResponseGroup, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.topics, pos = wire.read_structs(DescribeShareGroupOffsetsResponseTopic._read, buf, pos, n, version)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeShareGroupOffsetsResponse(Message):
    """DescribeShareGroupOffsetsResponse, versions 0-1."""

    __slots__ = ("throttle_time_ms", "groups")

    NAME = "DescribeShareGroupOffsetsResponse"
    TYPE = "response"
    API_KEY = 90
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        groups: list[DescribeShareGroupOffsetsResponseGroup] = UNSET,  # []DescribeShareGroupOffsetsResponseGroup
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is UNSET else groups
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.groups))
        for describe_share_group_offsets_response_group in self.groups:
            describe_share_group_offsets_response_group._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeShareGroupOffsetsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.groups, pos = wire.read_structs(DescribeShareGroupOffsetsResponseGroup._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
