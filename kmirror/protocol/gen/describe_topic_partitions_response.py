"""DescribeTopicPartitionsResponse: response, key 75, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeTopicPartitionsResponse.json.
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

unpack_hiii, pack_hiii = wire.fused("hiii")


class DescribeTopicPartitionsResponsePartition(Struct):
    """Part of DescribeTopicPartitionsResponse."""

    __slots__ = (
        "error_code",
        "partition_index",
        "leader_id",
        "leader_epoch",
        "replica_nodes",
        "isr_nodes",
        "eligible_leader_replicas",
        "last_known_elr",
        "offline_replicas",
    )

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("LeaderId", "leader_id", "int32", (0, 0), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), default=-1, ignorable=True),
        Field("ReplicaNodes", "replica_nodes", "int32", (0, 0), is_array=True, default=[], entity="brokerId"),
        Field("IsrNodes", "isr_nodes", "int32", (0, 0), is_array=True, default=[], entity="brokerId"),
        Field(
            "EligibleLeaderReplicas",
            "eligible_leader_replicas",
            "int32",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            entity="brokerId",
        ),
        Field(
            "LastKnownElr",
            "last_known_elr",
            "int32",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            entity="brokerId",
        ),
        Field(
            "OfflineReplicas",
            "offline_replicas",
            "int32",
            (0, 0),
            is_array=True,
            default=[],
            ignorable=True,
            entity="brokerId",
        ),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        partition_index: int = 0,  # int32
        leader_id: int = 0,  # int32, brokerId
        leader_epoch: int = -1,  # int32, ignorable
        replica_nodes: list[int] = UNSET,  # []int32, brokerId
        isr_nodes: list[int] = UNSET,  # []int32, brokerId
        eligible_leader_replicas: list[int] | None = None,  # []int32, brokerId
        last_known_elr: list[int] | None = None,  # []int32, brokerId
        offline_replicas: list[int] = UNSET,  # []int32, ignorable, brokerId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.replica_nodes = [] if replica_nodes is UNSET else replica_nodes
        self.isr_nodes = [] if isr_nodes is UNSET else isr_nodes
        self.eligible_leader_replicas = eligible_leader_replicas
        self.last_known_elr = last_known_elr
        self.offline_replicas = [] if offline_replicas is UNSET else offline_replicas
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hiii(self.error_code, self.partition_index, self.leader_id, self.leader_epoch))
        put(wire.compact_count(self.replica_nodes))
        put(wire.numbers(self.replica_nodes, "i"))
        put(wire.compact_count(self.isr_nodes))
        put(wire.numbers(self.isr_nodes, "i"))
        put(wire.compact_nullable_count(self.eligible_leader_replicas))
        put(wire.numbers(self.eligible_leader_replicas or (), "i"))
        put(wire.compact_nullable_count(self.last_known_elr))
        put(wire.numbers(self.last_known_elr or (), "i"))
        put(wire.compact_count(self.offline_replicas))
        put(wire.numbers(self.offline_replicas, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTopicPartitionsResponsePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.error_code,
            self.partition_index,
            self.leader_id,
            self.leader_epoch,
        ) = unpack_hiii(buf, pos)
        pos += 14
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.replica_nodes, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.isr_nodes, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_nullable_count(buf, pos, 4)
        if n < 0:
            self.eligible_leader_replicas = None
        else:
            self.eligible_leader_replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_nullable_count(buf, pos, 4)
        if n < 0:
            self.last_known_elr = None
        else:
            self.last_known_elr, pos = wire.read_numbers(buf, pos, n, "i", 4)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.offline_replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeTopicPartitionsResponseTopic(Struct):
    """Part of DescribeTopicPartitionsResponse."""

    __slots__ = ("error_code", "name", "topic_id", "is_internal", "partitions", "topic_authorized_operations")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field(
            "Name",
            "name",
            "string",
            (0, 0),
            nullable=(0, 0),
            default="",
            entity="topicName",
            map_key=True,
        ),
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO, ignorable=True),
        Field("IsInternal", "is_internal", "bool", (0, 0), default=False, ignorable=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=DescribeTopicPartitionsResponsePartition,
        ),
        Field(
            "TopicAuthorizedOperations",
            "topic_authorized_operations",
            "int32",
            (0, 0),
            default=-2147483648,
        ),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        name: str | None = "",  # string, topicName
        topic_id: Uuid = Uuid.ZERO,  # uuid, ignorable
        is_internal: bool = False,  # bool, ignorable
        partitions: list[DescribeTopicPartitionsResponsePartition] = UNSET,  # []DescribeTopicPartitionsResponsePartition
        topic_authorized_operations: int = -2147483648,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.name = name
        self.topic_id = topic_id
        self.is_internal = is_internal
        self.partitions = [] if partitions is UNSET else partitions
        self.topic_authorized_operations = topic_authorized_operations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.name))
        put(wire.uuid(self.topic_id))
        put(wire.pack_bool(self.is_internal))
        put(wire.compact_count(self.partitions))
        for describe_topic_partitions_response_partition in self.partitions:
            describe_topic_partitions_response_partition._write(put, version)
        put(wire.pack_int32(self.topic_authorized_operations))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTopicPartitionsResponseTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.name, pos = wire.read_compact_nullable_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        (self.is_internal,) = wire.unpack_bool(buf, pos)
        pos += 1
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.partitions, pos = wire.read_structs(DescribeTopicPartitionsResponsePartition._read, buf, pos, n, version)
        (self.topic_authorized_operations,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Cursor(Struct):
    """Part of DescribeTopicPartitionsResponse."""

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


class DescribeTopicPartitionsResponse(Message):
    """DescribeTopicPartitionsResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "topics", "next_cursor")

    NAME = "DescribeTopicPartitionsResponse"
    TYPE = "response"
    API_KEY = 75
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=DescribeTopicPartitionsResponseTopic,
        ),
        Field("NextCursor", "next_cursor", "struct", (0, 0), nullable=(0, 0), struct=Cursor),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32, ignorable
        topics: list[DescribeTopicPartitionsResponseTopic] = UNSET,  # []DescribeTopicPartitionsResponseTopic
        next_cursor: Cursor | None = None,  # Cursor
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        self.next_cursor = next_cursor
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.topics))
        for describe_topic_partitions_response_topic in self.topics:
            describe_topic_partitions_response_topic._write(put, version)
        if self.next_cursor is None:
            put(b"\xff")
        else:
            put(b"\x01")
            self.next_cursor._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTopicPartitionsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 26)
        self.topics, pos = wire.read_structs(DescribeTopicPartitionsResponseTopic._read, buf, pos, n, version)
        (present,) = wire.unpack_int8(buf, pos)
        pos += 1
        if present < 0:
            self.next_cursor = None
        else:
            self.next_cursor, pos = Cursor._read(buf, pos, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
