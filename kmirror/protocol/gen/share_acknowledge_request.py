"""ShareAcknowledgeRequest: request, key 79, versions 1-2, flexible from 0.

Generated from schemas/kafka/ShareAcknowledgeRequest.json.
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

unpack_qq, pack_qq = wire.fused("qq")


class AcknowledgementBatch(Struct):
    """Part of ShareAcknowledgeRequest."""

    __slots__ = ("first_offset", "last_offset", "acknowledge_types")

    FIELDS = (
        Field("FirstOffset", "first_offset", "int64", (1, 2), default=0),
        Field("LastOffset", "last_offset", "int64", (1, 2), default=0),
        Field("AcknowledgeTypes", "acknowledge_types", "int8", (1, 2), is_array=True, default=[]),
    )

    def __init__(
        self,
        first_offset: int = 0,  # int64
        last_offset: int = 0,  # int64
        acknowledge_types: list[int] = UNSET,  # []int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.acknowledge_types = [] if acknowledge_types is UNSET else acknowledge_types
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qq(self.first_offset, self.last_offset))
        put(wire.compact_count(self.acknowledge_types))
        put(wire.numbers(self.acknowledge_types, "b"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AcknowledgementBatch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.first_offset, self.last_offset = unpack_qq(buf, pos)
        pos += 16
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.acknowledge_types, pos = wire.read_numbers(buf, pos, n, "b", 1)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AcknowledgePartition(Struct):
    """Part of ShareAcknowledgeRequest."""

    __slots__ = ("partition_index", "acknowledgement_batches")

    FIELDS = (
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

    def __init__(
        self,
        partition_index: int = 0,  # int32
        acknowledgement_batches: list[AcknowledgementBatch] = UNSET,  # []AcknowledgementBatch
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.acknowledgement_batches = [] if acknowledgement_batches is UNSET else acknowledgement_batches
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        put(wire.compact_count(self.acknowledgement_batches))
        for acknowledgement_batch in self.acknowledgement_batches:
            acknowledgement_batch._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AcknowledgePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.acknowledgement_batches, pos = wire.read_structs(AcknowledgementBatch._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AcknowledgeTopic(Struct):
    """Part of ShareAcknowledgeRequest."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
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

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[AcknowledgePartition] = UNSET,  # []AcknowledgePartition
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
        for acknowledge_partition in self.partitions:
            acknowledge_partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AcknowledgeTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.partitions, pos = wire.read_structs(AcknowledgePartition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ShareAcknowledgeRequest(Message):
    """ShareAcknowledgeRequest, versions 1-2."""

    __slots__ = ("group_id", "member_id", "share_session_epoch", "is_renew_ack", "topics")

    NAME = "ShareAcknowledgeRequest"
    TYPE = "request"
    API_KEY = 79
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupId", "group_id", "string", (1, 2), nullable=(1, 2), entity="groupId"),
        Field("MemberId", "member_id", "string", (1, 2), nullable=(1, 2), default=""),
        Field("ShareSessionEpoch", "share_session_epoch", "int32", (1, 2), default=0),
        Field("IsRenewAck", "is_renew_ack", "bool", (2, 2), default=False),
        Field("Topics", "topics", "struct", (1, 2), is_array=True, default=[], struct=AcknowledgeTopic),
    )

    def __init__(
        self,
        group_id: str | None = None,  # string, groupId
        member_id: str | None = "",  # string
        share_session_epoch: int = 0,  # int32
        is_renew_ack: bool = False,  # bool, v2+
        topics: list[AcknowledgeTopic] = UNSET,  # []AcknowledgeTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.member_id = member_id
        self.share_session_epoch = share_session_epoch
        self.is_renew_ack = is_renew_ack
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareAcknowledgeRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
