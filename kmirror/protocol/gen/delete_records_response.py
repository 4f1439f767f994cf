"""DeleteRecordsResponse: response, key 21, versions 0-2, flexible from 2.

Generated from schemas/kafka/DeleteRecordsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_iqh, pack_iqh = wire.fused("iqh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteRecordsPartitionResult(Struct):
    """Part of DeleteRecordsResponse."""

    partition_index: int = 0  # int32
    low_watermark: int = 0  # int64
    error_code: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 2), default=0, map_key=True),
        Field("LowWatermark", "low_watermark", "int64", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqh(self.partition_index, self.low_watermark, self.error_code))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsPartitionResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.low_watermark, self.error_code = unpack_iqh(buf, pos)
        pos += 14
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteRecordsTopicResult(Struct):
    """Part of DeleteRecordsResponse."""

    name: str = ""  # string, topicName
    partitions: list[DeleteRecordsPartitionResult] = field(default_factory=list)  # []DeleteRecordsPartitionResult

    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        for delete_records_partition_result in self.partitions:
            delete_records_partition_result._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsTopicResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 14)
        self.partitions, pos = wire.read_structs(DeleteRecordsPartitionResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteRecordsResponse(Message):
    """DeleteRecordsResponse, versions 0-2."""

    throttle_time_ms: int = 0  # int32
    topics: list[DeleteRecordsTopicResult] = field(default_factory=list)  # []DeleteRecordsTopicResult

    NAME: ClassVar[str] = "DeleteRecordsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for delete_records_topic_result in self.topics:
            delete_records_topic_result._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(DeleteRecordsTopicResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
