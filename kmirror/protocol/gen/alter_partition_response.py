"""AlterPartitionResponse: response, key 56, versions 2-3, flexible from 0.

Generated from schemas/kafka/AlterPartitionResponse.json.
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

unpack_bi, pack_bi = wire.fused("bi")
unpack_ih, pack_ih = wire.fused("ih")
unpack_ihii, pack_ihii = wire.fused("ihii")


class PartitionData(Struct):
    """Part of AlterPartitionResponse."""

    __slots__ = (
        "partition_index",
        "error_code",
        "leader_id",
        "leader_epoch",
        "isr",
        "leader_recovery_state",
        "partition_epoch",
    )

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (2, 3), default=0),
        Field("ErrorCode", "error_code", "int16", (2, 3), default=0),
        Field("LeaderId", "leader_id", "int32", (2, 3), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (2, 3), default=0),
        Field("Isr", "isr", "int32", (2, 3), is_array=True, default=[], entity="brokerId"),
        Field("LeaderRecoveryState", "leader_recovery_state", "int8", (2, 3), default=0, ignorable=True),
        Field("PartitionEpoch", "partition_epoch", "int32", (2, 3), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        error_code: int = 0,  # int16
        leader_id: int = 0,  # int32, brokerId
        leader_epoch: int = 0,  # int32
        isr: list[int] = UNSET,  # []int32, brokerId
        leader_recovery_state: int = 0,  # int8, ignorable
        partition_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.isr = [] if isr is UNSET else isr
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihii(self.partition_index, self.error_code, self.leader_id, self.leader_epoch))
        put(wire.compact_count(self.isr))
        put(wire.numbers(self.isr, "i"))
        put(pack_bi(self.leader_recovery_state, self.partition_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.partition_index,
            self.error_code,
            self.leader_id,
            self.leader_epoch,
        ) = unpack_ihii(buf, pos)
        pos += 14
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.isr, pos = wire.read_numbers(buf, pos, n, "i", 4)
        self.leader_recovery_state, self.partition_epoch = unpack_bi(buf, pos)
        pos += 5
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicData(Struct):
    """Part of AlterPartitionResponse."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (2, 3), default=Uuid.ZERO, ignorable=True),
        Field("Partitions", "partitions", "struct", (2, 3), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid, ignorable
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 21)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterPartitionResponse(Message):
    """AlterPartitionResponse, versions 2-3."""

    __slots__ = ("throttle_time_ms", "error_code", "topics")

    NAME = "AlterPartitionResponse"
    TYPE = "response"
    API_KEY = 56
    MIN_VERSION = 2
    MAX_VERSION = 3
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (2, 3), default=0),
        Field("ErrorCode", "error_code", "int16", (2, 3), default=0),
        Field("Topics", "topics", "struct", (2, 3), is_array=True, default=[], struct=TopicData),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        topics: list[TopicData] = UNSET,  # []TopicData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterPartitionResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
