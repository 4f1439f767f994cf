"""OffsetDeleteResponse: response, key 47, versions 0, never flexible.

Generated from schemas/kafka/OffsetDeleteResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_hi, pack_hi = wire.fused("hi")
unpack_ih, pack_ih = wire.fused("ih")


class OffsetDeleteResponsePartition(Struct):
    """Part of OffsetDeleteResponse."""

    __slots__ = ("partition_index", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0, map_key=True),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteResponsePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        return self, pos


class OffsetDeleteResponseTopic(Struct):
    """Part of OffsetDeleteResponse."""

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
            struct=OffsetDeleteResponsePartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # The partitions.
        partitions: list[OffsetDeleteResponsePartition] = UNSET,  # []OffsetDeleteResponsePartition
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
        for offset_delete_response_partition in self.partitions:
            offset_delete_response_partition._write(put, version)
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteResponseTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_string(buf, pos)
        n, pos = wire.read_count(buf, pos, 6)
        self.partitions, pos = wire.read_structs(OffsetDeleteResponsePartition._read, buf, pos, n, version)
        return self, pos


class OffsetDeleteResponse(Message):
    """Says for each partition whether its offset is forgotten."""

    __slots__ = ("error_code", "throttle_time_ms", "topics")

    NAME = "OffsetDeleteResponse"
    TYPE = "response"
    API_KEY = 47
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OffsetDeleteResponseTopic,
        ),
    )

    def __init__(
        self,
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, ignorable
        # The topics.
        topics: list[OffsetDeleteResponseTopic] = UNSET,  # []OffsetDeleteResponseTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hi(self.error_code, self.throttle_time_ms))
        put(wire.count(self.topics))
        for offset_delete_response_topic in self.topics:
            offset_delete_response_topic._write(put, version)
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.error_code, self.throttle_time_ms = unpack_hi(buf, pos)
        pos += 6
        n, pos = wire.read_count(buf, pos, 6)
        self.topics, pos = wire.read_structs(OffsetDeleteResponseTopic._read, buf, pos, n, version)
        return self, pos
