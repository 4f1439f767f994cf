"""WriteShareGroupStateRequest: request, key 85, versions 0-1, flexible from 0.

Generated from schemas/kafka/WriteShareGroupStateRequest.json.
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

unpack_iiiq, pack_iiiq = wire.fused("iiiq")
unpack_qqbh, pack_qqbh = wire.fused("qqbh")


class StateBatch(Struct):
    """Part of WriteShareGroupStateRequest."""

    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")

    FIELDS = (
        Field("FirstOffset", "first_offset", "int64", (0, 1), default=0),
        Field("LastOffset", "last_offset", "int64", (0, 1), default=0),
        Field("DeliveryState", "delivery_state", "int8", (0, 1), default=0),
        Field("DeliveryCount", "delivery_count", "int16", (0, 1), default=0),
    )

    def __init__(
        self,
        first_offset: int = 0,  # int64
        last_offset: int = 0,  # int64
        delivery_state: int = 0,  # int8
        delivery_count: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qqbh(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StateBatch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.first_offset,
            self.last_offset,
            self.delivery_state,
            self.delivery_count,
        ) = unpack_qqbh(buf, pos)
        pos += 19
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionData(Struct):
    """Part of WriteShareGroupStateRequest."""

    __slots__ = (
        "partition",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
        "state_batches",
    )

    FIELDS = (
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

    def __init__(
        self,
        partition: int = 0,  # int32
        state_epoch: int = 0,  # int32
        leader_epoch: int = 0,  # int32
        start_offset: int = 0,  # int64
        delivery_complete_count: int = -1,  # int32, v1+, ignorable
        state_batches: list[StateBatch] = UNSET,  # []StateBatch
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        self.state_batches = [] if state_batches is UNSET else state_batches
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iiiq(self.partition, self.state_epoch, self.leader_epoch, self.start_offset))
        if version >= 1:
            put(wire.pack_int32(self.delivery_complete_count))
        put(wire.compact_count(self.state_batches))
        for state_batch in self.state_batches:
            state_batch._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WriteStateData(Struct):
    """Part of WriteShareGroupStateRequest."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field("Partitions", "partitions", "struct", (0, 1), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteStateData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 22)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WriteShareGroupStateRequest(Message):
    """WriteShareGroupStateRequest, versions 0-1."""

    __slots__ = ("group_id", "topics")

    NAME = "WriteShareGroupStateRequest"
    TYPE = "request"
    API_KEY = 85
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 1), default=""),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=WriteStateData),
    )

    def __init__(
        self,
        group_id: str = "",  # string
        topics: list[WriteStateData] = UNSET,  # []WriteStateData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for write_state_data in self.topics:
            write_state_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteShareGroupStateRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(WriteStateData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
