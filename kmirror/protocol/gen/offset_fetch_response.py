"""OffsetFetchResponse: response, key 9, versions 1-10, flexible from 6.

Generated from schemas/kafka/OffsetFetchResponse.json.
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
unpack_iqi, pack_iqi = wire.fused("iqi")


class OffsetFetchResponsePartition(Struct):
    """Part of OffsetFetchResponse, v1-7."""

    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (1, 7), default=0),
        Field("CommittedOffset", "committed_offset", "int64", (1, 7), default=0),
        Field("CommittedLeaderEpoch", "committed_leader_epoch", "int32", (5, 7), default=-1, ignorable=True),
        Field("Metadata", "metadata", "string", (1, 7), nullable=(1, 7), default=""),
        Field("ErrorCode", "error_code", "int16", (1, 7), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # The offset to be consumed next, -1 if there is none.
        committed_offset: int = 0,  # int64
        # Leader epoch of the last record consumed, -1 if it is not known.
        committed_leader_epoch: int = -1,  # int32, v5+, ignorable
        # Any bytes or text of the client's.
        metadata: str | None = "",  # string
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.partition_index, self.committed_offset))
        if version >= 5:
            put(wire.pack_int32(self.committed_leader_epoch))
        put((wire.compact_nullable_string if version >= 6 else wire.nullable_string)(self.metadata))
        put(wire.pack_int16(self.error_code))
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchResponsePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.committed_offset = unpack_iq(buf, pos)
        pos += 12
        if version >= 5:
            (self.committed_leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.committed_leader_epoch = -1
        self.metadata, pos = (wire.read_compact_nullable_string if version >= 6 else wire.read_nullable_string)(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetFetchResponseTopic(Struct):
    """Part of OffsetFetchResponse, v1-7."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (1, 7), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (1, 7),
            is_array=True,
            default=[],
            struct=OffsetFetchResponsePartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # The partitions.
        partitions: list[OffsetFetchResponsePartition] = UNSET,  # []OffsetFetchResponsePartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 6 else wire.string)(self.name))
        put((wire.compact_count if version >= 6 else wire.count)(self.partitions))
        for offset_fetch_response_partition in self.partitions:
            offset_fetch_response_partition._write(put, version)
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchResponseTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 16)
        self.partitions, pos = wire.read_structs(OffsetFetchResponsePartition._read, buf, pos, n, version)
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetFetchResponsePartitions(Struct):
    """Part of OffsetFetchResponse, v8+."""

    __slots__ = ("partition_index", "committed_offset", "committed_leader_epoch", "metadata", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (8, 10), default=0),
        Field("CommittedOffset", "committed_offset", "int64", (8, 10), default=0),
        Field("CommittedLeaderEpoch", "committed_leader_epoch", "int32", (8, 10), default=-1, ignorable=True),
        Field("Metadata", "metadata", "string", (8, 10), nullable=(8, 10), default=""),
        Field("ErrorCode", "error_code", "int16", (8, 10), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # The offset to be consumed next, -1 if there is none.
        committed_offset: int = 0,  # int64
        # Leader epoch of the last record consumed, -1 if it is not known.
        committed_leader_epoch: int = -1,  # int32, ignorable
        # Any bytes or text of the client's.
        metadata: str | None = "",  # string
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.committed_offset = committed_offset
        self.committed_leader_epoch = committed_leader_epoch
        self.metadata = metadata
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqi(self.partition_index, self.committed_offset, self.committed_leader_epoch))
        put(wire.compact_nullable_string(self.metadata))
        put(wire.pack_int16(self.error_code))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchResponsePartitions, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.partition_index,
            self.committed_offset,
            self.committed_leader_epoch,
        ) = unpack_iqi(buf, pos)
        pos += 16
        self.metadata, pos = wire.read_compact_nullable_string(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class OffsetFetchResponseTopics(Struct):
    """Part of OffsetFetchResponse, v8+."""

    __slots__ = ("name", "topic_id", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (8, 9), default="", ignorable=True, entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (10, 10), default=Uuid.ZERO, ignorable=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (8, 10),
            is_array=True,
            default=[],
            struct=OffsetFetchResponsePartitions,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, v8-9, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v10+, ignorable
        # The partitions.
        partitions: list[OffsetFetchResponsePartitions] = UNSET,  # []OffsetFetchResponsePartitions
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
            put(wire.compact_string(self.name))
        if version >= 10:
            put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for offset_fetch_response_partitions in self.partitions:
            offset_fetch_response_partitions._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchResponseTopics, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version <= 9:
            self.name, pos = wire.read_compact_string(buf, pos)
        else:
            self.name = ""
        if version >= 10:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.partitions, pos = wire.read_structs(OffsetFetchResponsePartitions._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class OffsetFetchResponseGroup(Struct):
    """Part of OffsetFetchResponse, v8+."""

    __slots__ = ("group_id", "topics", "error_code")

    FIELDS = (
        Field("GroupId", "group_id", "string", (8, 10), default="", entity="groupId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (8, 10),
            is_array=True,
            default=[],
            struct=OffsetFetchResponseTopics,
        ),
        Field("ErrorCode", "error_code", "int16", (8, 10), default=0),
    )

    def __init__(
        self,
        # Id of the group.
        group_id: str = "",  # string, groupId
        # The topics.
        topics: list[OffsetFetchResponseTopics] = UNSET,  # []OffsetFetchResponseTopics
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for offset_fetch_response_topics in self.topics:
            offset_fetch_response_topics._write(put, version)
        put(wire.pack_int16(self.error_code))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchResponseGroup, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(OffsetFetchResponseTopics._read, buf, pos, n, version)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class OffsetFetchResponse(Message):
    """The committed offsets."""

    __slots__ = ("throttle_time_ms", "topics", "error_code", "groups")

    NAME = "OffsetFetchResponse"
    TYPE = "response"
    API_KEY = 9
    MIN_VERSION = 1
    MAX_VERSION = 10
    FLEXIBLE_FROM = 6
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (3, 10), default=0, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (1, 7),
            is_array=True,
            default=[],
            struct=OffsetFetchResponseTopic,
        ),
        Field("ErrorCode", "error_code", "int16", (2, 7), default=0, ignorable=True),
        Field(
            "Groups",
            "groups",
            "struct",
            (8, 10),
            is_array=True,
            default=[],
            struct=OffsetFetchResponseGroup,
        ),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v3+, ignorable
        # The topics.
        topics: list[OffsetFetchResponseTopic] = UNSET,  # []OffsetFetchResponseTopic, v1-7
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16, v2-7, ignorable
        # One entry for each group.
        groups: list[OffsetFetchResponseGroup] = UNSET,  # []OffsetFetchResponseGroup, v8+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        self.error_code = error_code
        self.groups = [] if groups is UNSET else groups
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 3:
            put(wire.pack_int32(self.throttle_time_ms))
        if version <= 7:
            put((wire.compact_count if version >= 6 else wire.count)(self.topics))
            for offset_fetch_response_topic in self.topics:
                offset_fetch_response_topic._write(put, version)
        elif self.topics:
            raise wire.Unwritable
        if 2 <= version <= 7:
            put(wire.pack_int16(self.error_code))
        if version >= 8:
            put(wire.compact_count(self.groups))
            for offset_fetch_response_group in self.groups:
                offset_fetch_response_group._write(put, version)
        elif self.groups:
            raise wire.Unwritable
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetFetchResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 3:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        if version <= 7:
            n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 3)
            self.topics, pos = wire.read_structs(OffsetFetchResponseTopic._read, buf, pos, n, version)
        else:
            self.topics = []
        if 2 <= version <= 7:
            (self.error_code,) = wire.unpack_int16(buf, pos)
            pos += 2
        else:
            self.error_code = 0
        if version >= 8:
            n, pos = wire.read_compact_count(buf, pos, 5)
            self.groups, pos = wire.read_structs(OffsetFetchResponseGroup._read, buf, pos, n, version)
        else:
            self.groups = []
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
