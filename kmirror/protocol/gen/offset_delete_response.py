"""OffsetDeleteResponse: response, key 47, versions 0, never flexible.

Generated from schemas/kafka/OffsetDeleteResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_hi, pack_hi = wire.fused("hi")
unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetDeleteResponsePartition(Struct):
    """Part of OffsetDeleteResponse."""

    partition_index: int = 0  # int32
    error_code: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0, map_key=True),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteResponsePartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetDeleteResponseTopic(Struct):
    """Part of OffsetDeleteResponse."""

    name: str = ""  # string, topicName
    partitions: list[OffsetDeleteResponsePartition] = field(default_factory=list)  # []OffsetDeleteResponsePartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName", map_key=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OffsetDeleteResponsePartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.name))
        put(wire.count(self.partitions))
        for offset_delete_response_partition in self.partitions:
            offset_delete_response_partition._write(put, version)
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteResponseTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_string(buf, pos)
        n, pos = wire.read_count(buf, pos, 6)
        self.partitions, pos = wire.read_structs(OffsetDeleteResponsePartition._read, buf, pos, n, version)
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetDeleteResponse(Message):
    """OffsetDeleteResponse, versions 0."""

    error_code: int = 0  # int16
    throttle_time_ms: int = 0  # int32, ignorable
    topics: list[OffsetDeleteResponseTopic] = field(default_factory=list)  # []OffsetDeleteResponseTopic

    NAME: ClassVar[str] = "OffsetDeleteResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OffsetDeleteResponseTopic,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hi(self.error_code, self.throttle_time_ms))
        put(wire.count(self.topics))
        for offset_delete_response_topic in self.topics:
            offset_delete_response_topic._write(put, version)
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.error_code, self.throttle_time_ms = unpack_hi(buf, pos)
        pos += 6
        n, pos = wire.read_count(buf, pos, 6)
        self.topics, pos = wire.read_structs(OffsetDeleteResponseTopic._read, buf, pos, n, version)
        return self, pos
