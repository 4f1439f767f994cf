"""OffsetCommitRequest: request, key 8, versions 2-10, flexible from 8.

Generated from schemas/kafka/OffsetCommitRequest.json.
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

unpack_iq, pack_iq = wire.fused("iq")


class OffsetCommitRequestPartition(Struct):
    """Part of OffsetCommitRequest."""

    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "committed_metadata")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (2, 10), default=0),
        Field("CommittedOffset", "committed_offset", "int64", (2, 10), default=0),
        Field("CommittedLeaderEpoch", "committed_leader_epoch", "int32", (6, 10), default=-1, ignorable=True),
        Field("CommittedMetadata", "committed_metadata", "string", (2, 10), nullable=(2, 10), default=""),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # The offset to be consumed next, -1 if there is none.
        committed_offset: int = 0,  # int64
        # Leader epoch of the last record consumed, -1 if it is not known.
        committed_leader_epoch: int = -1,  # int32, v6+, ignorable
        # Any text that the client wants to keep.
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
        if version >= 6:
            put(wire.pack_int32(self.committed_leader_epoch))
        put((wire.compact_nullable_string if version >= 8 else wire.nullable_string)(self.committed_metadata))
        if version >= 8:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitRequestPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.committed_offset = unpack_iq(buf, pos)
        pos += 12
        if version >= 6:
            (self.committed_leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.committed_leader_epoch = -1
        self.committed_metadata, pos = (wire.read_compact_nullable_string if version >= 8 else wire.read_nullable_string)(buf, pos)
        if version >= 8:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetCommitRequestTopic(Struct):
    """Part of OffsetCommitRequest."""

    __slots__ = ("name", "topic_id", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (2, 9), default="", ignorable=True, entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (10, 10), default=Uuid.ZERO, ignorable=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (2, 10),
            is_array=True,
            default=[],
            struct=OffsetCommitRequestPartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, v2-9, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v10+, ignorable
        # The partitions.
        partitions: list[OffsetCommitRequestPartition] = UNSET,  # []OffsetCommitRequestPartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 9:
            put((wire.compact_string if version >= 8 else wire.string)(self.name))
        if version >= 10:
            put(wire.uuid(self.topic_id))
        put((wire.compact_count if version >= 8 else wire.count)(self.partitions))
        for offset_commit_request_partition in self.partitions:
            offset_commit_request_partition._write(put, version)
        if version >= 8:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitRequestTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version <= 9:
            self.name, pos = (wire.read_compact_string if version >= 8 else wire.read_string)(buf, pos)
        else:
            self.name = ""
        if version >= 10:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        n, pos = (wire.read_compact_count if version >= 8 else wire.read_count)(buf, pos, 14)
        self.partitions, pos = wire.read_structs(OffsetCommitRequestPartition._read, buf, pos, n, version)
        if version >= 8:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetCommitRequest(Message):
    """Brings offsets to be committed for a group."""

    __slots__ = (
        "group_id",
        "generation_id_or_member_epoch",
        "member_id",
        "group_instance_id",
        "retention_time_ms",
        "topics",
    )

    NAME = "OffsetCommitRequest"
    TYPE = "request"
    API_KEY = 8
    MIN_VERSION = 2
    MAX_VERSION = 10
    FLEXIBLE_FROM = 8
    FIELDS = (
        Field("GroupId", "group_id", "string", (2, 10), default="", entity="groupId"),
        Field(
            "GenerationIdOrMemberEpoch",
            "generation_id_or_member_epoch",
            "int32",
            (2, 10),
            default=-1,
            ignorable=True,
        ),
        Field("MemberId", "member_id", "string", (2, 10), default="", ignorable=True),
        Field("GroupInstanceId", "group_instance_id", "string", (7, 10), nullable=(7, 10)),
        Field("RetentionTimeMs", "retention_time_ms", "int64", (2, 4), default=-1, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (2, 10),
            is_array=True,
            default=[],
            struct=OffsetCommitRequestTopic,
        ),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # Generation of a classic group, epoch of the member otherwise.
        generation_id_or_member_epoch: int = -1,  # int32, ignorable
        # Id of the member.
        member_id: str = "",  # string, ignorable
        # What a static member is called, null for a dynamic one.
        group_instance_id: str | None = None,  # string, v7+
        # How long to keep the offset, in milliseconds, -1 for the broker's default.
        retention_time_ms: int = -1,  # int64, v2-4, ignorable
        # The topics.
        topics: list[OffsetCommitRequestTopic] = UNSET,  # []OffsetCommitRequestTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.generation_id_or_member_epoch = generation_id_or_member_epoch
        self.member_id = member_id
        self.group_instance_id = group_instance_id
        self.retention_time_ms = retention_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 8 else wire.string)(self.group_id))
        put(wire.pack_int32(self.generation_id_or_member_epoch))
        put((wire.compact_string if version >= 8 else wire.string)(self.member_id))
        if version >= 7:
            put((wire.compact_nullable_string if version >= 8 else wire.nullable_string)(self.group_instance_id))
        elif self.group_instance_id is not None:
            raise wire.Unwritable
        if version <= 4:
            put(wire.pack_int64(self.retention_time_ms))
        put((wire.compact_count if version >= 8 else wire.count)(self.topics))
        for offset_commit_request_topic in self.topics:
            offset_commit_request_topic._write(put, version)
        if version >= 8:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = (wire.read_compact_string if version >= 8 else wire.read_string)(buf, pos)
        (self.generation_id_or_member_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.member_id, pos = (wire.read_compact_string if version >= 8 else wire.read_string)(buf, pos)
        if version >= 7:
            self.group_instance_id, pos = (wire.read_compact_nullable_string if version >= 8 else wire.read_nullable_string)(buf, pos)
        else:
            self.group_instance_id = None
        if version <= 4:
            (self.retention_time_ms,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.retention_time_ms = -1
        n, pos = (wire.read_compact_count if version >= 8 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(OffsetCommitRequestTopic._read, buf, pos, n, version)
        if version >= 8:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
