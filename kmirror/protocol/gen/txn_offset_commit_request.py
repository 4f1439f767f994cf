"""TxnOffsetCommitRequest: request, key 28, versions 0-5, flexible from 3.

Generated from schemas/kafka/TxnOffsetCommitRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iq, pack_iq = wire.fused("iq")
unpack_qh, pack_qh = wire.fused("qh")


class TxnOffsetCommitRequestPartition(Struct):
    """Part of TxnOffsetCommitRequest."""

    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 5), default=0),
        Field("CommittedOffset", "committed_offset", "int64", (0, 5), default=0),
        Field("CommittedLeaderEpoch", "committed_leader_epoch", "int32", (2, 5), default=-1, ignorable=True),
        Field("CommittedMetadata", "committed_metadata", "string", (0, 5), nullable=(0, 5), default=""),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        committed_offset: int = 0,  # int64
        committed_leader_epoch: int = -1,  # int32, v2+, ignorable
        committed_metadata: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.committed_metadata = committed_metadata
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.partition_index, self.committed_offset))
        if version >= 2:
            put(wire.pack_int32(self.committed_leader_epoch))
        put((wire.compact_nullable_string if version >= 3 else wire.nullable_string)(self.committed_metadata))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitRequestPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.committed_offset = unpack_iq(buf, pos)
        pos += 12
        if version >= 2:
            (self.committed_leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.committed_leader_epoch = -1
        self.committed_metadata, pos = (wire.read_compact_nullable_string if version >= 3 else wire.read_nullable_string)(buf, pos)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TxnOffsetCommitRequestTopic(Struct):
    """Part of TxnOffsetCommitRequest."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 5), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 5),
            is_array=True,
            default=[],
            struct=TxnOffsetCommitRequestPartition,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[TxnOffsetCommitRequestPartition] = UNSET,  # []TxnOffsetCommitRequestPartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.name))
        put((wire.compact_count if version >= 3 else wire.count)(self.partitions))
        for txn_offset_commit_request_partition in self.partitions:
            txn_offset_commit_request_partition._write(put, version)
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitRequestTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 14)
        self.partitions, pos = wire.read_structs(TxnOffsetCommitRequestPartition._read, buf, pos, n, version)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TxnOffsetCommitRequest(Message):
    """TxnOffsetCommitRequest, versions 0-5."""

    __slots__ = (
        "transactional_id",
        "group_id",
        "producer_id",
        "producer_epoch",
        "generation_id",
        "member_id",
        "group_instance_id",
        "topics",
    )

    NAME = "TxnOffsetCommitRequest"
    TYPE = "request"
    API_KEY = 28
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("TransactionalId", "transactional_id", "string", (0, 5), default="", entity="transactionalId"),
        Field("GroupId", "group_id", "string", (0, 5), default="", entity="groupId"),
        Field("ProducerId", "producer_id", "int64", (0, 5), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 5), default=0),
        Field("GenerationId", "generation_id", "int32", (3, 5), default=-1),
        Field("MemberId", "member_id", "string", (3, 5), default=""),
        Field("GroupInstanceId", "group_instance_id", "string", (3, 5), nullable=(3, 5)),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 5),
            is_array=True,
            default=[],
            struct=TxnOffsetCommitRequestTopic,
        ),
    )

    def __init__(
        self,
        transactional_id: str = "",  # string, transactionalId
        group_id: str = "",  # string, groupId
        producer_id: int = 0,  # int64, producerId
        producer_epoch: int = 0,  # int16
        generation_id: int = -1,  # int32, v3+
        member_id: str = "",  # string, v3+
        group_instance_id: str | None = None,  # string, v3+
        topics: list[TxnOffsetCommitRequestTopic] = UNSET,  # []TxnOffsetCommitRequestTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        self.group_id = group_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.generation_id = generation_id
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.transactional_id))
        put((wire.compact_string if version >= 3 else wire.string)(self.group_id))
        put(pack_qh(self.producer_id, self.producer_epoch))
        if version >= 3:
            put(wire.pack_int32(self.generation_id))
        elif self.generation_id != -1:
            raise wire.Unwritable
        if version >= 3:
            put(wire.compact_string(self.member_id))
        elif self.member_id:
            raise wire.Unwritable
        if version >= 3:
            put(wire.compact_nullable_string(self.group_instance_id))
        elif self.group_instance_id is not None:
            raise wire.Unwritable
        put((wire.compact_count if version >= 3 else wire.count)(self.topics))
        for txn_offset_commit_request_topic in self.topics:
            txn_offset_commit_request_topic._write(put, version)
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        self.group_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        self.producer_id, self.producer_epoch = unpack_qh(buf, pos)
        pos += 10
        if version >= 3:
            (self.generation_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.generation_id = -1
        if version >= 3:
            self.member_id, pos = wire.read_compact_string(buf, pos)
        else:
            self.member_id = ""
        if version >= 3:
            self.group_instance_id, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.group_instance_id = None
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(TxnOffsetCommitRequestTopic._read, buf, pos, n, version)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
