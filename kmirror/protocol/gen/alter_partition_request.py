"""AlterPartitionRequest: request, key 56, versions 2-3, flexible from 0.

Generated from schemas/kafka/AlterPartitionRequest.json.
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
unpack_ii, pack_ii = wire.fused("ii")
unpack_iq, pack_iq = wire.fused("iq")


class BrokerState(Struct):
    """Part of AlterPartitionRequest, v3+."""

    __slots__ = ("broker_id", "broker_epoch")

    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (3, 3), default=0, entity="brokerId"),
        Field("BrokerEpoch", "broker_epoch", "int64", (3, 3), default=-1),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        broker_epoch: int = -1,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.broker_id, self.broker_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.broker_id, self.broker_epoch = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionData(Struct):
    """Part of AlterPartitionRequest."""

    __slots__ = (
        "partition_index",
        "leader_epoch",
        "new_isr",
        "new_isr_with_epochs",
        "leader_recovery_state",
        "partition_epoch",
    )

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (2, 3), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (2, 3), default=0),
        Field("NewIsr", "new_isr", "int32", (2, 2), is_array=True, default=[], entity="brokerId"),
        Field(
            "NewIsrWithEpochs",
            "new_isr_with_epochs",
            "struct",
            (3, 3),
            is_array=True,
            default=[],
            struct=BrokerState,
        ),
        Field("LeaderRecoveryState", "leader_recovery_state", "int8", (2, 3), default=0),
        Field("PartitionEpoch", "partition_epoch", "int32", (2, 3), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        leader_epoch: int = 0,  # int32
        new_isr: list[int] = UNSET,  # []int32, v2, brokerId
        new_isr_with_epochs: list[BrokerState] = UNSET,  # []BrokerState, v3+
        leader_recovery_state: int = 0,  # int8
        partition_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.leader_epoch = leader_epoch
        self.new_isr = [] if new_isr is UNSET else new_isr
        self.new_isr_with_epochs = [] if new_isr_with_epochs is UNSET else new_isr_with_epochs
        self.leader_recovery_state = leader_recovery_state
        self.partition_epoch = partition_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.partition_index, self.leader_epoch))
        if version <= 2:
            put(wire.compact_count(self.new_isr))
            put(wire.numbers(self.new_isr, "i"))
        elif self.new_isr:
            raise wire.Unwritable
        if version >= 3:
            put(wire.compact_count(self.new_isr_with_epochs))
            for broker_state in self.new_isr_with_epochs:
                broker_state._write(put, version)
        elif self.new_isr_with_epochs:
            raise wire.Unwritable
        put(pack_bi(self.leader_recovery_state, self.partition_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if version <= 2:
            n, pos = wire.read_compact_count(buf, pos, 4)
            self.new_isr, pos = wire.read_numbers(buf, pos, n, "i", 4)
        else:
            self.new_isr = []
        if version >= 3:
            n, pos = wire.read_compact_count(buf, pos, 13)
            self.new_isr_with_epochs, pos = wire.read_structs(BrokerState._read, buf, pos, n, version)
        else:
            self.new_isr_with_epochs = []
        self.leader_recovery_state, self.partition_epoch = unpack_bi(buf, pos)
        pos += 5
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicData(Struct):
    """Part of AlterPartitionRequest."""

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
        n, pos = wire.read_compact_count(buf, pos, 15)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterPartitionRequest(Message):
    """AlterPartitionRequest, versions 2-3."""

    __slots__ = ("broker_id", "broker_epoch", "topics")

    NAME = "AlterPartitionRequest"
    TYPE = "request"
    API_KEY = 56
    MIN_VERSION = 2
    MAX_VERSION = 3
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (2, 3), default=0, entity="brokerId"),
        Field("BrokerEpoch", "broker_epoch", "int64", (2, 3), default=-1),
        Field("Topics", "topics", "struct", (2, 3), is_array=True, default=[], struct=TopicData),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        broker_epoch: int = -1,  # int64
        topics: list[TopicData] = UNSET,  # []TopicData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.broker_id, self.broker_epoch))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterPartitionRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.broker_id, self.broker_epoch = unpack_iq(buf, pos)
        pos += 12
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
