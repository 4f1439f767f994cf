"""ListOffsetsResponse: response, key 2, versions 1-11, flexible from 6.

Generated from schemas/kafka/ListOffsetsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ihqq, pack_ihqq = wire.fused("ihqq")


class ListOffsetsPartitionResponse(Struct):
    """Part of ListOffsetsResponse."""

    __slots__ = ("partition_index", "error_code", "timestamp", "offset", "leader_epoch")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (1, 11), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 11), default=0),
        Field("Timestamp", "timestamp", "int64", (1, 11), default=-1),
        Field("Offset", "offset", "int64", (1, 11), default=-1),
        Field("LeaderEpoch", "leader_epoch", "int32", (4, 11), default=-1),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # Time in milliseconds; below 0 the first, last and other special offsets.
        timestamp: int = -1,  # int64
        # The offset found, -1 if there is none.
        offset: int = -1,  # int64
        # Leader epoch, -1 if it is not known.
        leader_epoch: int = -1,  # int32, v4+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.timestamp = timestamp
        self.offset = offset
        self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihqq(self.partition_index, self.error_code, self.timestamp, self.offset))
        if version >= 4:
            put(wire.pack_int32(self.leader_epoch))
        elif self.leader_epoch != -1:
            raise wire.Unwritable
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsPartitionResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code, self.timestamp, self.offset = unpack_ihqq(buf, pos)
        pos += 22
        if version >= 4:
            (self.leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.leader_epoch = -1
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ListOffsetsTopicResponse(Struct):
    """Part of ListOffsetsResponse."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (1, 11), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (1, 11),
            is_array=True,
            default=[],
            struct=ListOffsetsPartitionResponse,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # The partitions.
        partitions: list[ListOffsetsPartitionResponse] = UNSET,  # []ListOffsetsPartitionResponse
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
        for list_offsets_partition_response in self.partitions:
            list_offsets_partition_response._write(put, version)
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsTopicResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 22)
        self.partitions, pos = wire.read_structs(ListOffsetsPartitionResponse._read, buf, pos, n, version)
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ListOffsetsResponse(Message):
    """The offsets that were asked for."""

    __slots__ = ("throttle_time_ms", "topics")

    NAME = "ListOffsetsResponse"
    TYPE = "response"
    API_KEY = 2
    MIN_VERSION = 1
    MAX_VERSION = 11
    FLEXIBLE_FROM = 6
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (2, 11), default=0, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (1, 11),
            is_array=True,
            default=[],
            struct=ListOffsetsTopicResponse,
        ),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v2+, ignorable
        # The topics.
        topics: list[ListOffsetsTopicResponse] = UNSET,  # []ListOffsetsTopicResponse
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 2:
            put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 6 else wire.count)(self.topics))
        for list_offsets_topic_response in self.topics:
            list_offsets_topic_response._write(put, version)
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 2:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(ListOffsetsTopicResponse._read, buf, pos, n, version)
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
