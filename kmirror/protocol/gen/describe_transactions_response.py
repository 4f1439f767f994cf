"""DescribeTransactionsResponse: response, key 65, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeTransactionsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iqqh, pack_iqqh = wire.fused("iqqh")


class TopicData(Struct):
    """Part of DescribeTransactionsResponse."""

    __slots__ = ("topic", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (0, 0), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic: str = "",  # string, topicName
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic = topic
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TransactionState(Struct):
    """Part of DescribeTransactionsResponse."""

    __slots__ = (
        "error_code",
        "transactional_id",
        "transaction_state",
        "transaction_timeout_ms",
        "transaction_start_time_ms",
        "producer_id",
        "producer_epoch",
        "topics",
    )

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("TransactionalId", "transactional_id", "string", (0, 0), default="", entity="transactionalId"),
        Field("TransactionState", "transaction_state", "string", (0, 0), default=""),
        Field("TransactionTimeoutMs", "transaction_timeout_ms", "int32", (0, 0), default=0),
        Field("TransactionStartTimeMs", "transaction_start_time_ms", "int64", (0, 0), default=0),
        Field("ProducerId", "producer_id", "int64", (0, 0), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 0), default=0),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicData),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        transactional_id: str = "",  # string, transactionalId
        transaction_state: str = "",  # string
        transaction_timeout_ms: int = 0,  # int32
        transaction_start_time_ms: int = 0,  # int64
        producer_id: int = 0,  # int64, producerId
        producer_epoch: int = 0,  # int16
        topics: list[TopicData] = UNSET,  # []TopicData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.transactional_id = transactional_id
        self.transaction_state = transaction_state
        self.transaction_timeout_ms = transaction_timeout_ms
        self.transaction_start_time_ms = transaction_start_time_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TransactionState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeTransactionsResponse(Message):
    """DescribeTransactionsResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "transaction_states")

    NAME = "DescribeTransactionsResponse"
    TYPE = "response"
    API_KEY = 65
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        transaction_states: list[TransactionState] = UNSET,  # []TransactionState
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.transaction_states = [] if transaction_states is UNSET else transaction_states
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.transaction_states))
        for transaction_state in self.transaction_states:
            transaction_state._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTransactionsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 28)
        self.transaction_states, pos = wire.read_structs(TransactionState._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
