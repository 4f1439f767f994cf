"""BumpLeaderEpochsResponse: response, key 105, versions 0, flexible from 0.

Generated from schemas/mirroring/BumpLeaderEpochsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionDetail(Struct):
    """Part of BumpLeaderEpochsResponse."""

    # Partition.
    partition_index: int = 0  # int32
    # Error code, 0 if all is well.
    error_code: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionDetail, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicPartitions(Struct):
    """Part of BumpLeaderEpochsResponse."""

    # Id of the topic, as in the request.
    topic_id: Uuid = Uuid.ZERO  # uuid
    # Name of the topic.
    topic_name: str = ""  # string
    # One entry for each partition.
    partitions: list[PartitionDetail] = field(default_factory=list)  # []PartitionDetail

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=PartitionDetail,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for partition_detail in self.partitions:
            partition_detail._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 7)
        self.partitions, pos = wire.read_structs(PartitionDetail._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class BumpLeaderEpochsResponse(Message):
    """Says for each partition whether its epoch was raised."""

    # How long the broker held the answer back because of a quota, in milliseconds.
    throttle_time_ms: int = 0  # int32
    # Error code, 0 if all is well.
    error_code: int = 0  # int16
    # One entry for each topic of the request.
    topics: list[TopicPartitions] = field(default_factory=list)  # []TopicPartitions

    NAME: ClassVar[str] = "BumpLeaderEpochsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 105
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicPartitions),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_count(self.topics))
        for topic_partitions in self.topics:
            topic_partitions._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BumpLeaderEpochsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.topics, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
