"""OffsetCommitResponse: response, key 8, versions 2-10, flexible from 8.

Generated from schemas/kafka/OffsetCommitResponse.json.
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

unpack_ih, pack_ih = wire.fused("ih")


class OffsetCommitResponsePartition(Struct):
    """Part of OffsetCommitResponse."""

    __slots__ = ("partition_index", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (2, 10), default=0),
        Field("ErrorCode", "error_code", "int16", (2, 10), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if version >= 8:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitResponsePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 8:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetCommitResponseTopic(Struct):
    """Part of OffsetCommitResponse."""

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
            struct=OffsetCommitResponsePartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, v2-9, ignorable, topicName
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v10+, ignorable
        # The partitions.
        partitions: list[OffsetCommitResponsePartition] = UNSET,  # []OffsetCommitResponsePartition
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
        for offset_commit_response_partition in self.partitions:
            offset_commit_response_partition._write(put, version)
        if version >= 8:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitResponseTopic, int]:
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
        n, pos = (wire.read_compact_count if version >= 8 else wire.read_count)(buf, pos, 6)
        self.partitions, pos = wire.read_structs(OffsetCommitResponsePartition._read, buf, pos, n, version)
        if version >= 8:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetCommitResponse(Message):
    """Says for each partition whether its offset is committed."""

    __slots__ = ("throttle_time_ms", "topics")

    NAME = "OffsetCommitResponse"
    TYPE = "response"
    API_KEY = 8
    MIN_VERSION = 2
    MAX_VERSION = 10
    FLEXIBLE_FROM = 8
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (3, 10), default=0, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (2, 10),
            is_array=True,
            default=[],
            struct=OffsetCommitResponseTopic,
        ),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v3+, ignorable
        # The topics.
        topics: list[OffsetCommitResponseTopic] = UNSET,  # []OffsetCommitResponseTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 3:
            put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 8 else wire.count)(self.topics))
        for offset_commit_response_topic in self.topics:
            offset_commit_response_topic._write(put, version)
        if version >= 8:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 3:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        n, pos = (wire.read_compact_count if version >= 8 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(OffsetCommitResponseTopic._read, buf, pos, n, version)
        if version >= 8:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
