"""WriteShareGroupStateRequest: request, key 85, versions 0-1, flexible from 0.

Generated from schemas/kafka/WriteShareGroupStateRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_iiiq, pack_iiiq = wire.fused("iiiq")
unpack_qqbh, pack_qqbh = wire.fused("qqbh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class StateBatch(Struct):
    """Part of WriteShareGroupStateRequest."""

    first_offset: int = 0  # int64
    last_offset: int = 0  # int64
    delivery_state: int = 0  # int8
    delivery_count: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("FirstOffset", "first_offset", "int64", (0, 1), default=0),
        Field("LastOffset", "last_offset", "int64", (0, 1), default=0),
        Field("DeliveryState", "delivery_state", "int8", (0, 1), default=0),
        Field("DeliveryCount", "delivery_count", "int16", (0, 1), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qqbh(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StateBatch, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (
            self.first_offset,
            self.last_offset,
            self.delivery_state,
            self.delivery_count,
        ) = unpack_qqbh(buf, pos)
        pos += 19
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionData(Struct):
    """Part of WriteShareGroupStateRequest."""

    partition: int = 0  # int32
    state_epoch: int = 0  # int32
    leader_epoch: int = 0  # int32
    start_offset: int = 0  # int64
    delivery_complete_count: int = -1  # int32, v1+, ignorable
    state_batches: list[StateBatch] = field(default_factory=list)  # []StateBatch

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Partition", "partition", "int32", (0, 1), default=0),
        Field("StateEpoch", "state_epoch", "int32", (0, 1), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
        Field("StartOffset", "start_offset", "int64", (0, 1), default=0),
        Field(
            "DeliveryCompleteCount",
            "delivery_complete_count",
            "int32",
            (1, 1),
            default=-1,
            ignorable=True,
        ),
        Field(
            "StateBatches",
            "state_batches",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=StateBatch,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iiiq(self.partition, self.state_epoch, self.leader_epoch, self.start_offset))
        if version >= 1:
            put(wire.pack_int32(self.delivery_complete_count))
        put(wire.compact_count(self.state_batches))
        for state_batch in self.state_batches:
            state_batch._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (
            self.partition,
            self.state_epoch,
            self.leader_epoch,
            self.start_offset,
        ) = unpack_iiiq(buf, pos)
        pos += 20
        if version >= 1:
            (self.delivery_complete_count,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.delivery_complete_count = -1
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.state_batches, pos = wire.read_structs(StateBatch._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WriteStateData(Struct):
    """Part of WriteShareGroupStateRequest."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[PartitionData] = field(default_factory=list)  # []PartitionData

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field("Partitions", "partitions", "struct", (0, 1), is_array=True, default=[], struct=PartitionData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteStateData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 22)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WriteShareGroupStateRequest(Message):
    """WriteShareGroupStateRequest, versions 0-1."""

    group_id: str = ""  # string
    topics: list[WriteStateData] = field(default_factory=list)  # []WriteStateData

    NAME: ClassVar[str] = "WriteShareGroupStateRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 85
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (0, 1), default=""),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=WriteStateData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for write_state_data in self.topics:
            write_state_data._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteShareGroupStateRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(WriteStateData._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
