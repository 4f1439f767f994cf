"""AlterPartitionReassignmentsRequest: request, key 45, versions 0-1, flexible from 0.

Generated from schemas/kafka/AlterPartitionReassignmentsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class ReassignablePartition(Struct):
    """Part of AlterPartitionReassignmentsRequest."""

    __slots__ = ("partition_index", "replicas")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 1), default=0),
        Field("Replicas", "replicas", "int32", (0, 1), is_array=True, nullable=(0, 1), entity="brokerId"),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        replicas: list[int] | None = None,  # []int32, brokerId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.replicas = replicas
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        put(wire.compact_nullable_count(self.replicas))
        put(wire.numbers(self.replicas or (), "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReassignablePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_nullable_count(buf, pos, 4)
        if n < 0:
            self.replicas = None
        else:
            self.replicas, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReassignableTopic(Struct):
    """Part of AlterPartitionReassignmentsRequest."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 1), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=ReassignablePartition,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[ReassignablePartition] = UNSET,  # []ReassignablePartition
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
        for reassignable_partition in self.partitions:
            reassignable_partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReassignableTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.partitions, pos = wire.read_structs(ReassignablePartition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterPartitionReassignmentsRequest(Message):
    """AlterPartitionReassignmentsRequest, versions 0-1."""

    __slots__ = ("timeout_ms", "allow_replication_factor_change", "topics")

    NAME = "AlterPartitionReassignmentsRequest"
    TYPE = "request"
    API_KEY = 45
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("TimeoutMs", "timeout_ms", "int32", (0, 1), default=60000),
        Field(
            "AllowReplicationFactorChange",
            "allow_replication_factor_change",
            "bool",
            (1, 1),
            default=True,
        ),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=ReassignableTopic),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,  # int32
        allow_replication_factor_change: bool = True,  # bool, v1+
        topics: list[ReassignableTopic] = UNSET,  # []ReassignableTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.timeout_ms = timeout_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.timeout_ms))
        if version >= 1:
            put(wire.pack_bool(self.allow_replication_factor_change))
        elif not self.allow_replication_factor_change:
            raise wire.Unwritable
        put(wire.compact_count(self.topics))
        for reassignable_topic in self.topics:
            reassignable_topic._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterPartitionReassignmentsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 1:
            (self.allow_replication_factor_change,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.allow_replication_factor_change = True
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(ReassignableTopic._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
