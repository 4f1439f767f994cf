"""ShareFetchRequest: request, key 78, versions 1-2, flexible from 0.

Generated from schemas/kafka/ShareFetchRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_bo, pack_bo = wire.fused("b?")
unpack_iiiiii, pack_iiiiii = wire.fused("iiiiii")
unpack_qq, pack_qq = wire.fused("qq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AcknowledgementBatch(Struct):
    """Part of ShareFetchRequest."""

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
class FetchPartition(Struct):
    """Part of ShareFetchRequest."""

    partition_index: int = 0  # int32
    partition_max_bytes: int = 0  # int32, no version
    acknowledgement_batches: list[AcknowledgementBatch] = field(default_factory=list)  # []AcknowledgementBatch

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (1, 2), default=0, map_key=True),
        Field("PartitionMaxBytes", "partition_max_bytes", "int32", (0, -1), default=0),
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.acknowledgement_batches, pos = wire.read_structs(AcknowledgementBatch._read, buf, pos, n, version)
        self.partition_max_bytes = 0
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class FetchTopic(Struct):
    """Part of ShareFetchRequest."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[FetchPartition] = field(default_factory=list)  # []FetchPartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (1, 2), default=Uuid.ZERO, map_key=True),
        Field("Partitions", "partitions", "struct", (1, 2), is_array=True, default=[], struct=FetchPartition),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for fetch_partition in self.partitions:
            fetch_partition._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.partitions, pos = wire.read_structs(FetchPartition._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ForgottenTopic(Struct):
    """Part of ShareFetchRequest."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (1, 2), default=Uuid.ZERO),
        Field("Partitions", "partitions", "int32", (1, 2), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ForgottenTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ShareFetchRequest(Message):
    """ShareFetchRequest, versions 1-2."""

    group_id: str | None = None  # string, groupId
    member_id: str | None = ""  # string
    share_session_epoch: int = 0  # int32
    max_wait_ms: int = 0  # int32
    min_bytes: int = 0  # int32
    max_bytes: int = 2147483647  # int32
    max_records: int = 0  # int32
    batch_size: int = 0  # int32
    share_acquire_mode: int = 0  # int8, v2+, ignorable
    is_renew_ack: bool = False  # bool, v2+
    topics: list[FetchTopic] = field(default_factory=list)  # []FetchTopic
    forgotten_topics_data: list[ForgottenTopic] = field(default_factory=list)  # []ForgottenTopic

    NAME: ClassVar[str] = "ShareFetchRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 78
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (1, 2), nullable=(1, 2), entity="groupId"),
        Field("MemberId", "member_id", "string", (1, 2), nullable=(1, 2), default=""),
        Field("ShareSessionEpoch", "share_session_epoch", "int32", (1, 2), default=0),
        Field("MaxWaitMs", "max_wait_ms", "int32", (1, 2), default=0),
        Field("MinBytes", "min_bytes", "int32", (1, 2), default=0),
        Field("MaxBytes", "max_bytes", "int32", (1, 2), default=2147483647),
        Field("MaxRecords", "max_records", "int32", (1, 2), default=0),
        Field("BatchSize", "batch_size", "int32", (1, 2), default=0),
        Field("ShareAcquireMode", "share_acquire_mode", "int8", (2, 2), default=0, ignorable=True),
        Field("IsRenewAck", "is_renew_ack", "bool", (2, 2), default=False),
        Field("Topics", "topics", "struct", (1, 2), is_array=True, default=[], struct=FetchTopic),
        Field(
            "ForgottenTopicsData",
            "forgotten_topics_data",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=ForgottenTopic,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.group_id))
        put(wire.compact_nullable_string(self.member_id))
        put(pack_iiiiii(
            self.share_session_epoch,
            self.max_wait_ms,
            self.min_bytes,
            self.max_bytes,
            self.max_records,
            self.batch_size,
        ))
        if version >= 2:
            put(pack_bo(self.share_acquire_mode, self.is_renew_ack))
        if version < 2 and self.is_renew_ack:
            raise wire.Unwritable
        put(wire.compact_count(self.topics))
        for fetch_topic in self.topics:
            fetch_topic._write(put, version)
        put(wire.compact_count(self.forgotten_topics_data))
        for forgotten_topic in self.forgotten_topics_data:
            forgotten_topic._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareFetchRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.member_id, pos = wire.read_compact_nullable_string(buf, pos)
        (
            self.share_session_epoch,
            self.max_wait_ms,
            self.min_bytes,
            self.max_bytes,
            self.max_records,
            self.batch_size,
        ) = unpack_iiiiii(buf, pos)
        pos += 24
        if version >= 2:
            self.share_acquire_mode, self.is_renew_ack = unpack_bo(buf, pos)
            pos += 2
        else:
            self.share_acquire_mode = 0
            self.is_renew_ack = False
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(FetchTopic._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.forgotten_topics_data, pos = wire.read_structs(ForgottenTopic._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
