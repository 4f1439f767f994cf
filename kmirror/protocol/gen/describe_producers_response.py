"""DescribeProducersResponse: response, key 61, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeProducersResponse.json.
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
unpack_qiiqiq, pack_qiiqiq = wire.fused("qiiqiq")


class ProducerState(Struct):
    """Part of DescribeProducersResponse."""

    __slots__ = (
        "producer_id",
        "producer_epoch",
        "last_sequence",
        "last_timestamp",
        "coordinator_epoch",
        "current_txn_start_offset",
    )

    FIELDS = (
        Field("ProducerId", "producer_id", "int64", (0, 0), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int32", (0, 0), default=0),
        Field("LastSequence", "last_sequence", "int32", (0, 0), default=-1),
        Field("LastTimestamp", "last_timestamp", "int64", (0, 0), default=-1),
        Field("CoordinatorEpoch", "coordinator_epoch", "int32", (0, 0), default=0),
        Field("CurrentTxnStartOffset", "current_txn_start_offset", "int64", (0, 0), default=-1),
    )

    def __init__(
        self,
        producer_id: int = 0,  # int64, producerId
        producer_epoch: int = 0,  # int32
        last_sequence: int = -1,  # int32
        last_timestamp: int = -1,  # int64
        coordinator_epoch: int = 0,  # int32
        current_txn_start_offset: int = -1,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.last_sequence = last_sequence
        self.last_timestamp = last_timestamp
        self.coordinator_epoch = coordinator_epoch
        self.current_txn_start_offset = current_txn_start_offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qiiqiq(
            self.producer_id,
            self.producer_epoch,
            self.last_sequence,
            self.last_timestamp,
            self.coordinator_epoch,
            self.current_txn_start_offset,
        ))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ProducerState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionResponse(Struct):
    """Part of DescribeProducersResponse."""

    __slots__ = ("partition_index", "error_code", "error_message", "active_producers")

    FIELDS = (
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

    def __init__(
        self,
        partition_index: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        active_producers: list[ProducerState] = UNSET,  # []ProducerState
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        self.active_producers = [] if active_producers is UNSET else active_producers
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.active_producers))
        for producer_state in self.active_producers:
            producer_state._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 37)
        self.active_producers, pos = wire.read_structs(ProducerState._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicResponse(Struct):
    """Part of DescribeProducersResponse."""

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
            struct=PartitionResponse,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[PartitionResponse] = UNSET,  # []PartitionResponse
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
        for partition_response in self.partitions:
            partition_response._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.partitions, pos = wire.read_structs(PartitionResponse._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeProducersResponse(Message):
    """DescribeProducersResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "topics")

    NAME = "DescribeProducersResponse"
    TYPE = "response"
    API_KEY = 61
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicResponse),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        topics: list[TopicResponse] = UNSET,  # []TopicResponse
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.topics))
        for topic_response in self.topics:
            topic_response._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeProducersResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicResponse._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
