"""DescribeProducersResponse: response, key 61, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeProducersResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ih, pack_ih = wire.fused("ih")
unpack_qiiqiq, pack_qiiqiq = wire.fused("qiiqiq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ProducerState(Struct):
    """Part of DescribeProducersResponse."""

    producer_id: int = 0  # int64, producerId
    producer_epoch: int = 0  # int32
    last_sequence: int = -1  # int32
    last_timestamp: int = -1  # int64
    coordinator_epoch: int = 0  # int32
    current_txn_start_offset: int = -1  # int64

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ProducerId", "producer_id", "int64", (0, 0), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int32", (0, 0), default=0),
        Field("LastSequence", "last_sequence", "int32", (0, 0), default=-1),
        Field("LastTimestamp", "last_timestamp", "int64", (0, 0), default=-1),
        Field("CoordinatorEpoch", "coordinator_epoch", "int32", (0, 0), default=0),
        Field("CurrentTxnStartOffset", "current_txn_start_offset", "int64", (0, 0), default=-1),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qiiqiq(
            self.producer_id,
            self.producer_epoch,
            self.last_sequence,
            self.last_timestamp,
            self.coordinator_epoch,
            self.current_txn_start_offset,
        ))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ProducerState, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (
            self.producer_id,
            self.producer_epoch,
            self.last_sequence,
            self.last_timestamp,
            self.coordinator_epoch,
            self.current_txn_start_offset,
        ) = unpack_qiiqiq(buf, pos)
        pos += 36
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionResponse(Struct):
    """Part of DescribeProducersResponse."""

    partition_index: int = 0  # int32
    error_code: int = 0  # int16
    error_message: str | None = None  # string
    active_producers: list[ProducerState] = field(default_factory=list)  # []ProducerState

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field(
            "ActiveProducers",
            "active_producers",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=ProducerState,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.active_producers))
        for producer_state in self.active_producers:
            producer_state._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 37)
        self.active_producers, pos = wire.read_structs(ProducerState._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicResponse(Struct):
    """Part of DescribeProducersResponse."""

    name: str = ""  # string, topicName
    partitions: list[PartitionResponse] = field(default_factory=list)  # []PartitionResponse

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=PartitionResponse,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for partition_response in self.partitions:
            partition_response._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.partitions, pos = wire.read_structs(PartitionResponse._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeProducersResponse(Message):
    """DescribeProducersResponse, versions 0."""

    throttle_time_ms: int = 0  # int32
    topics: list[TopicResponse] = field(default_factory=list)  # []TopicResponse

    NAME: ClassVar[str] = "DescribeProducersResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 61
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicResponse),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.topics))
        for topic_response in self.topics:
            topic_response._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeProducersResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicResponse._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
