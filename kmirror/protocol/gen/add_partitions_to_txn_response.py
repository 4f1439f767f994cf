"""AddPartitionsToTxnResponse: response, key 24, versions 0-5, flexible from 3.

Generated from schemas/kafka/AddPartitionsToTxnResponse.json.
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


class AddPartitionsToTxnPartitionResult(Struct):
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = ("partition_index", "partition_error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 5), default=0, map_key=True),
        Field("PartitionErrorCode", "partition_error_code", "int16", (0, 5), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        partition_error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.partition_error_code = partition_error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.partition_error_code))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddPartitionsToTxnPartitionResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.partition_error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AddPartitionsToTxnTopicResult(Struct):
    """Part of AddPartitionsToTxnResponse."""

    __slots__ = ("name", "results_by_partition")

    FIELDS = (
        Field("Name", "name", "string", (0, 5), default="", entity="topicName", map_key=True),
        Field(
            "ResultsByPartition",
            "results_by_partition",
            "struct",
            (0, 5),
            is_array=True,
            default=[],
            struct=AddPartitionsToTxnPartitionResult,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = UNSET,  # []AddPartitionsToTxnPartitionResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.results_by_partition = [] if results_by_partition is UNSET else results_by_partition
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.name))
        put((wire.compact_count if version >= 3 else wire.count)(self.results_by_partition))
        for add_partitions_to_txn_partition_result in self.results_by_partition:
            add_partitions_to_txn_partition_result._write(put, version)
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddPartitionsToTxnTopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 6)
        self.results_by_partition, pos = wire.read_structs(AddPartitionsToTxnPartitionResult._read, buf, pos, n, version)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AddPartitionsToTxnResult(Struct):
    """Part of AddPartitionsToTxnResponse, v4+."""

    __slots__ = ("transactional_id", "topic_results")

    FIELDS = (
        Field(
            "TransactionalId",
            "transactional_id",
            "string",
            (4, 5),
            default="",
            entity="transactionalId",
            map_key=True,
        ),
        Field(
            "TopicResults",
            "topic_results",
            "struct",
            (4, 5),
            is_array=True,
            default=[],
            struct=AddPartitionsToTxnTopicResult,
        ),
    )

    def __init__(
        self,
        transactional_id: str = "",  # string, transactionalId
        topic_results: list[AddPartitionsToTxnTopicResult] = UNSET,  # []AddPartitionsToTxnTopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        self.topic_results = [] if topic_results is UNSET else topic_results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.transactional_id))
        put(wire.compact_count(self.topic_results))
        for add_partitions_to_txn_topic_result in self.topic_results:
            add_partitions_to_txn_topic_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddPartitionsToTxnResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topic_results, pos = wire.read_structs(AddPartitionsToTxnTopicResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AddPartitionsToTxnResponse(Message):
    """AddPartitionsToTxnResponse, versions 0-5."""

    __slots__ = ("throttle_time_ms", "error_code", "results_by_transaction", "results_by_topic_v3_and_below")

    NAME = "AddPartitionsToTxnResponse"
    TYPE = "response"
    API_KEY = 24
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 5), default=0),
        Field("ErrorCode", "error_code", "int16", (4, 5), default=0, ignorable=True),
        Field(
            "ResultsByTransaction",
            "results_by_transaction",
            "struct",
            (4, 5),
            is_array=True,
            default=[],
            struct=AddPartitionsToTxnResult,
        ),
        Field(
            "ResultsByTopicV3AndBelow",
            "results_by_topic_v3_and_below",
            "struct",
            (0, 3),
            is_array=True,
            default=[],
            struct=AddPartitionsToTxnTopicResult,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16, v4+, ignorable
        results_by_transaction: list[AddPartitionsToTxnResult] = UNSET,  # []AddPartitionsToTxnResult, v4+
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = UNSET,  # []AddPartitionsToTxnTopicResult, v0-3
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.results_by_transaction = [] if results_by_transaction is UNSET else results_by_transaction
        self.results_by_topic_v3_and_below = [] if results_by_topic_v3_and_below is UNSET else results_by_topic_v3_and_below
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 4:
            put(wire.pack_int16(self.error_code))
        if version >= 4:
            put(wire.compact_count(self.results_by_transaction))
            for add_partitions_to_txn_result in self.results_by_transaction:
                add_partitions_to_txn_result._write(put, version)
        elif self.results_by_transaction:
            raise wire.Unwritable
        if version <= 3:
            put((wire.compact_count if version >= 3 else wire.count)(self.results_by_topic_v3_and_below))
            for add_partitions_to_txn_topic_result in self.results_by_topic_v3_and_below:
                add_partitions_to_txn_topic_result._write(put, version)
        elif self.results_by_topic_v3_and_below:
            raise wire.Unwritable
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddPartitionsToTxnResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 4:
            (self.error_code,) = wire.unpack_int16(buf, pos)
            pos += 2
        else:
            self.error_code = 0
        if version >= 4:
            n, pos = wire.read_compact_count(buf, pos, 3)
            self.results_by_transaction, pos = wire.read_structs(AddPartitionsToTxnResult._read, buf, pos, n, version)
        else:
            self.results_by_transaction = []
        if version <= 3:
            n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 3)
            self.results_by_topic_v3_and_below, pos = wire.read_structs(AddPartitionsToTxnTopicResult._read, buf, pos, n, version)
        else:
            self.results_by_topic_v3_and_below = []
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
