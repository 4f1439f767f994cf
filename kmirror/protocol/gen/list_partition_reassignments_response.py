"""ListPartitionReassignmentsResponse: response, key 46, versions 0, flexible from 0.

Generated from schemas/kafka/ListPartitionReassignmentsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class OngoingPartitionReassignment(Struct):
    """Part of ListPartitionReassignmentsResponse."""

    __slots__ = ("partition_index", "replicas", "adding_replicas", "removing_replicas")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("Replicas", "replicas", "int32", (0, 0), is_array=True, default=[], entity="brokerId"),
        Field(
            "AddingReplicas",
            "adding_replicas",
            "int32",
            (0, 0),
            is_array=True,
            default=[],
            entity="brokerId",
        ),
        Field(
            "RemovingReplicas",
            "removing_replicas",
            "int32",
            (0, 0),
            is_array=True,
            default=[],
            entity="brokerId",
        ),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        replicas: list[int] = UNSET,  # []int32, brokerId
        adding_replicas: list[int] = UNSET,  # []int32, brokerId
        removing_replicas: list[int] = UNSET,  # []int32, brokerId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.replicas = [] if replicas is UNSET else replicas
        self.adding_replicas = [] if adding_replicas is UNSET else adding_replicas
        self.removing_replicas = [] if removing_replicas is UNSET else removing_replicas
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        put(wire.compact_count(self.replicas))
        put(wire.numbers(self.replicas, "i"))
        put(wire.compact_count(self.adding_replicas))
        put(wire.numbers(self.adding_replicas, "i"))
        put(wire.compact_count(self.removing_replicas))
        put(wire.numbers(self.removing_replicas, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OngoingPartitionReassignment, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.adding_replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.removing_replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class OngoingTopicReassignment(Struct):
    """Part of ListPartitionReassignmentsResponse."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OngoingPartitionReassignment,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[OngoingPartitionReassignment] = UNSET,  # []OngoingPartitionReassignment
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for ongoing_partition_reassignment in self.partitions:
            ongoing_partition_reassignment._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OngoingTopicReassignment, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.partitions, pos = wire.read_structs(OngoingPartitionReassignment._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ListPartitionReassignmentsResponse(Message):
    """ListPartitionReassignmentsResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "topics")

    NAME = "ListPartitionReassignmentsResponse"
    TYPE = "response"
    API_KEY = 46
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0), default=""),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OngoingTopicReassignment,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        topics: list[OngoingTopicReassignment] = UNSET,  # []OngoingTopicReassignment
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.topics))
        for ongoing_topic_reassignment in self.topics:
            ongoing_topic_reassignment._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListPartitionReassignmentsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(OngoingTopicReassignment._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
