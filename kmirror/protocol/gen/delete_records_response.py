"""DeleteRecordsResponse: response, key 21, versions 0-2, flexible from 2.

Generated from schemas/kafka/DeleteRecordsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iqh, pack_iqh = wire.fused("iqh")


class DeleteRecordsPartitionResult(Struct):
    """Part of DeleteRecordsResponse."""

    __slots__ = ("partition_index", "low_watermark", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 2), default=0, map_key=True),
        Field("LowWatermark", "low_watermark", "int64", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        low_watermark: int = 0,  # int64
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.low_watermark = low_watermark
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqh(self.partition_index, self.low_watermark, self.error_code))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsPartitionResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.low_watermark, self.error_code = unpack_iqh(buf, pos)
        pos += 14
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DeleteRecordsTopicResult(Struct):
    """Part of DeleteRecordsResponse."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 2), default="", entity="topicName", map_key=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=DeleteRecordsPartitionResult,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[DeleteRecordsPartitionResult] = UNSET,  # []DeleteRecordsPartitionResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        for delete_records_partition_result in self.partitions:
            delete_records_partition_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsTopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 14)
        self.partitions, pos = wire.read_structs(DeleteRecordsPartitionResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DeleteRecordsResponse(Message):
    """DeleteRecordsResponse, versions 0-2."""

    __slots__ = ("throttle_time_ms", "topics")

    NAME = "DeleteRecordsResponse"
    TYPE = "response"
    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=DeleteRecordsTopicResult,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        topics: list[DeleteRecordsTopicResult] = UNSET,  # []DeleteRecordsTopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for delete_records_topic_result in self.topics:
            delete_records_topic_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(DeleteRecordsTopicResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
