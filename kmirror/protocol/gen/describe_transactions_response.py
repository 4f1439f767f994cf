"""DescribeTransactionsResponse: response, key 65, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeTransactionsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_iqqh, pack_iqqh = wire.fused("iqqh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicData(Struct):
    """Part of DescribeTransactionsResponse."""

    topic: str = ""  # string, topicName
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topic", "topic", "string", (0, 0), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TransactionState(Struct):
    """Part of DescribeTransactionsResponse."""

    error_code: int = 0  # int16
    transactional_id: str = ""  # string, transactionalId
    transaction_state: str = ""  # string
    transaction_timeout_ms: int = 0  # int32
    transaction_start_time_ms: int = 0  # int64
    producer_id: int = 0  # int64, producerId
    producer_epoch: int = 0  # int16
    topics: list[TopicData] = field(default_factory=list)  # []TopicData

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("TransactionalId", "transactional_id", "string", (0, 0), default="", entity="transactionalId"),
        Field("TransactionState", "transaction_state", "string", (0, 0), default=""),
        Field("TransactionTimeoutMs", "transaction_timeout_ms", "int32", (0, 0), default=0),
        Field("TransactionStartTimeMs", "transaction_start_time_ms", "int64", (0, 0), default=0),
        Field("ProducerId", "producer_id", "int64", (0, 0), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 0), default=0),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put(wire.compact_string(self.transactional_id))
        put(wire.compact_string(self.transaction_state))
        put(pack_iqqh(
            self.transaction_timeout_ms,
            self.transaction_start_time_ms,
            self.producer_id,
            self.producer_epoch,
        ))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TransactionState, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.transactional_id, pos = wire.read_compact_string(buf, pos)
        self.transaction_state, pos = wire.read_compact_string(buf, pos)
        (
            self.transaction_timeout_ms,
            self.transaction_start_time_ms,
            self.producer_id,
            self.producer_epoch,
        ) = unpack_iqqh(buf, pos)
        pos += 22
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeTransactionsResponse(Message):
    """DescribeTransactionsResponse, versions 0."""

    throttle_time_ms: int = 0  # int32
    transaction_states: list[TransactionState] = field(default_factory=list)  # []TransactionState

    NAME: ClassVar[str] = "DescribeTransactionsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 65
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field(
            "TransactionStates",
            "transaction_states",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TransactionState,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.transaction_states))
        for transaction_state in self.transaction_states:
            transaction_state._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTransactionsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 28)
        self.transaction_states, pos = wire.read_structs(TransactionState._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
