"""BumpLeaderEpochsResponse: response, key 105, versions 0, flexible from 0.

Generated from schemas/mirroring/BumpLeaderEpochsResponse.json.
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


class PartitionDetail(Struct):
    """Part of BumpLeaderEpochsResponse."""

    __slots__ = ("partition_index", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionDetail, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicPartitions(Struct):
    """Part of BumpLeaderEpochsResponse."""

    __slots__ = ("topic_id", "topic_name", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=PartitionDetail,
        ),
    )

    def __init__(
        self,
        # Id of the topic, as in the request.
        topic_id: Uuid = Uuid.ZERO,  # uuid
        # Name of the topic.
        topic_name: str = "",  # string
        # One entry for each partition.
        partitions: list[PartitionDetail] = UNSET,  # []PartitionDetail
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for partition_detail in self.partitions:
            partition_detail._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 7)
        self.partitions, pos = wire.read_structs(PartitionDetail._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class BumpLeaderEpochsResponse(Message):
    """Says for each partition whether its epoch was raised."""

    __slots__ = ("throttle_time_ms", "error_code", "topics")

    NAME = "BumpLeaderEpochsResponse"
    TYPE = "response"
    API_KEY = 105
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicPartitions),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # One entry for each topic of the request.
        topics: list[TopicPartitions] = UNSET,  # []TopicPartitions
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
        for topic_partitions in self.topics:
            topic_partitions._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BumpLeaderEpochsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.topics, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
