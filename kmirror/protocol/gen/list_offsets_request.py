"""ListOffsetsRequest: request, key 2, versions 1-11, flexible from 6.

Generated from schemas/kafka/ListOffsetsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ListOffsetsPartition(Struct):
    """Part of ListOffsetsRequest."""

    partition_index: int = 0  # int32
    current_leader_epoch: int = -1  # int32, v4+, ignorable
    timestamp: int = 0  # int64

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (1, 11), default=0),
        Field("CurrentLeaderEpoch", "current_leader_epoch", "int32", (4, 11), default=-1, ignorable=True),
        Field("Timestamp", "timestamp", "int64", (1, 11), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        if version >= 4:
            put(wire.pack_int32(self.current_leader_epoch))
        put(wire.pack_int64(self.timestamp))
        if version >= 6:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 4:
            (self.current_leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.current_leader_epoch = -1
        (self.timestamp,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version >= 6:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ListOffsetsTopic(Struct):
    """Part of ListOffsetsRequest."""

    name: str = ""  # string, topicName
    partitions: list[ListOffsetsPartition] = field(default_factory=list)  # []ListOffsetsPartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (1, 11), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (1, 11),
            is_array=True,
            default=[],
            struct=ListOffsetsPartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 6 else wire.string)(self.name))
        put((wire.compact_count if version >= 6 else wire.count)(self.partitions))
        for list_offsets_partition in self.partitions:
            list_offsets_partition._write(put, version)
        if version >= 6:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 12)
        self.partitions, pos = wire.read_structs(ListOffsetsPartition._read, buf, pos, n, version)
        if version >= 6:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ListOffsetsRequest(Message):
    """ListOffsetsRequest, versions 1-11."""

    replica_id: int = 0  # int32, brokerId
    isolation_level: int = 0  # int8, v2+
    topics: list[ListOffsetsTopic] = field(default_factory=list)  # []ListOffsetsTopic
    timeout_ms: int = 0  # int32, v10+, ignorable

    NAME: ClassVar[str] = "ListOffsetsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 2
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 11
    FLEXIBLE_FROM: ClassVar[int | None] = 6
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ReplicaId", "replica_id", "int32", (1, 11), default=0, entity="brokerId"),
        Field("IsolationLevel", "isolation_level", "int8", (2, 11), default=0),
        Field("Topics", "topics", "struct", (1, 11), is_array=True, default=[], struct=ListOffsetsTopic),
        Field("TimeoutMs", "timeout_ms", "int32", (10, 11), default=0, ignorable=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.replica_id))
        if version >= 2:
            put(wire.pack_int8(self.isolation_level))
        elif self.isolation_level:
            raise wire.Unwritable
        put((wire.compact_count if version >= 6 else wire.count)(self.topics))
        for list_offsets_topic in self.topics:
            list_offsets_topic._write(put, version)
        if version >= 10:
            put(wire.pack_int32(self.timeout_ms))
        if version >= 6:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.replica_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            (self.isolation_level,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.isolation_level = 0
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(ListOffsetsTopic._read, buf, pos, n, version)
        if version >= 10:
            (self.timeout_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.timeout_ms = 0
        if version >= 6:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
