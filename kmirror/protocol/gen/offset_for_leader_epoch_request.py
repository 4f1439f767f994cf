"""OffsetForLeaderEpochRequest: request, key 23, versions 2-4, flexible from 4.

Generated from schemas/kafka/OffsetForLeaderEpochRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_iii, pack_iii = wire.fused("iii")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetForLeaderPartition(Struct):
    """Part of OffsetForLeaderEpochRequest."""

    partition: int = 0  # int32
    current_leader_epoch: int = -1  # int32, ignorable
    leader_epoch: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Partition", "partition", "int32", (2, 4), default=0),
        Field("CurrentLeaderEpoch", "current_leader_epoch", "int32", (2, 4), default=-1, ignorable=True),
        Field("LeaderEpoch", "leader_epoch", "int32", (2, 4), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iii(self.partition, self.current_leader_epoch, self.leader_epoch))
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetForLeaderPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition, self.current_leader_epoch, self.leader_epoch = unpack_iii(buf, pos)
        pos += 12
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetForLeaderTopic(Struct):
    """Part of OffsetForLeaderEpochRequest."""

    topic: str = ""  # string, topicName
    partitions: list[OffsetForLeaderPartition] = field(default_factory=list)  # []OffsetForLeaderPartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topic", "topic", "string", (2, 4), default="", entity="topicName", map_key=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (2, 4),
            is_array=True,
            default=[],
            struct=OffsetForLeaderPartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.topic))
        put((wire.compact_count if version >= 4 else wire.count)(self.partitions))
        for offset_for_leader_partition in self.partitions:
            offset_for_leader_partition._write(put, version)
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetForLeaderTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 12)
        self.partitions, pos = wire.read_structs(OffsetForLeaderPartition._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetForLeaderEpochRequest(Message):
    """OffsetForLeaderEpochRequest, versions 2-4."""

    replica_id: int = -2  # int32, v3+, ignorable, brokerId
    topics: list[OffsetForLeaderTopic] = field(default_factory=list)  # []OffsetForLeaderTopic

    NAME: ClassVar[str] = "OffsetForLeaderEpochRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 23
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ReplicaId", "replica_id", "int32", (3, 4), default=-2, ignorable=True, entity="brokerId"),
        Field("Topics", "topics", "struct", (2, 4), is_array=True, default=[], struct=OffsetForLeaderTopic),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 3:
            put(wire.pack_int32(self.replica_id))
        put((wire.compact_count if version >= 4 else wire.count)(self.topics))
        for offset_for_leader_topic in self.topics:
            offset_for_leader_topic._write(put, version)
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetForLeaderEpochRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version >= 3:
            (self.replica_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.replica_id = -2
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(OffsetForLeaderTopic._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
