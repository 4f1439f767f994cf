"""ShareAcknowledgeRequest: request, key 79, versions 1-2, flexible from 0.

Generated from schemas/kafka/ShareAcknowledgeRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_qq, pack_qq = wire.fused("qq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AcknowledgementBatch(Struct):
    """Part of ShareAcknowledgeRequest."""

    first_offset: int = 0  # int64
    last_offset: int = 0  # int64
    acknowledge_types: list[int] = field(default_factory=list)  # []int8

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("FirstOffset", "first_offset", "int64", (1, 2), default=0),
        Field("LastOffset", "last_offset", "int64", (1, 2), default=0),
        Field("AcknowledgeTypes", "acknowledge_types", "int8", (1, 2), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qq(self.first_offset, self.last_offset))
        put(wire.compact_count(self.acknowledge_types))
        put(wire.numbers(self.acknowledge_types, "b"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AcknowledgementBatch, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.first_offset, self.last_offset = unpack_qq(buf, pos)
        pos += 16
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.acknowledge_types, pos = wire.read_numbers(buf, pos, n, "b", 1)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AcknowledgePartition(Struct):
    """Part of ShareAcknowledgeRequest."""

    partition_index: int = 0  # int32
    acknowledgement_batches: list[AcknowledgementBatch] = field(default_factory=list)  # []AcknowledgementBatch

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (1, 2), default=0, map_key=True),
        Field(
            "AcknowledgementBatches",
            "acknowledgement_batches",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=AcknowledgementBatch,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        put(wire.compact_count(self.acknowledgement_batches))
        for acknowledgement_batch in self.acknowledgement_batches:
            acknowledgement_batch._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AcknowledgePartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.acknowledgement_batches, pos = wire.read_structs(AcknowledgementBatch._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AcknowledgeTopic(Struct):
    """Part of ShareAcknowledgeRequest."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[AcknowledgePartition] = field(default_factory=list)  # []AcknowledgePartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (1, 2), default=Uuid.ZERO, map_key=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=AcknowledgePartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for acknowledge_partition in self.partitions:
            acknowledge_partition._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AcknowledgeTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.partitions, pos = wire.read_structs(AcknowledgePartition._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ShareAcknowledgeRequest(Message):
    """ShareAcknowledgeRequest, versions 1-2."""

    group_id: str | None = None  # string, groupId
    member_id: str | None = ""  # string
    share_session_epoch: int = 0  # int32
    is_renew_ack: bool = False  # bool, v2+
    topics: list[AcknowledgeTopic] = field(default_factory=list)  # []AcknowledgeTopic

    NAME: ClassVar[str] = "ShareAcknowledgeRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 79
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (1, 2), nullable=(1, 2), entity="groupId"),
        Field("MemberId", "member_id", "string", (1, 2), nullable=(1, 2), default=""),
        Field("ShareSessionEpoch", "share_session_epoch", "int32", (1, 2), default=0),
        Field("IsRenewAck", "is_renew_ack", "bool", (2, 2), default=False),
        Field("Topics", "topics", "struct", (1, 2), is_array=True, default=[], struct=AcknowledgeTopic),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.group_id))
        put(wire.compact_nullable_string(self.member_id))
        put(wire.pack_int32(self.share_session_epoch))
        if version >= 2:
            put(wire.pack_bool(self.is_renew_ack))
        elif self.is_renew_ack:
            raise wire.Unwritable
        put(wire.compact_count(self.topics))
        for acknowledge_topic in self.topics:
            acknowledge_topic._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareAcknowledgeRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.member_id, pos = wire.read_compact_nullable_string(buf, pos)
        (self.share_session_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            (self.is_renew_ack,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.is_renew_ack = False
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(AcknowledgeTopic._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
