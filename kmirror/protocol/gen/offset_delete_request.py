"""OffsetDeleteRequest: request, key 47, versions 0, never flexible.

Generated from schemas/kafka/OffsetDeleteRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetDeleteRequestPartition(Struct):
    """Part of OffsetDeleteRequest."""

    partition_index: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteRequestPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetDeleteRequestTopic(Struct):
    """Part of OffsetDeleteRequest."""

    name: str = ""  # string, topicName
    partitions: list[OffsetDeleteRequestPartition] = field(default_factory=list)  # []OffsetDeleteRequestPartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName", map_key=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OffsetDeleteRequestPartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.name))
        put(wire.count(self.partitions))
        for offset_delete_request_partition in self.partitions:
            offset_delete_request_partition._write(put, version)
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteRequestTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_string(buf, pos)
        n, pos = wire.read_count(buf, pos, 4)
        self.partitions, pos = wire.read_structs(OffsetDeleteRequestPartition._read, buf, pos, n, version)
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetDeleteRequest(Message):
    """OffsetDeleteRequest, versions 0."""

    group_id: str = ""  # string, groupId
    topics: list[OffsetDeleteRequestTopic] = field(default_factory=list)  # []OffsetDeleteRequestTopic

    NAME: ClassVar[str] = "OffsetDeleteRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 47
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (0, 0), default="", entity="groupId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=OffsetDeleteRequestTopic,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group_id))
        put(wire.count(self.topics))
        for offset_delete_request_topic in self.topics:
            offset_delete_request_topic._write(put, version)
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetDeleteRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_string(buf, pos)
        n, pos = wire.read_count(buf, pos, 6)
        self.topics, pos = wire.read_structs(OffsetDeleteRequestTopic._read, buf, pos, n, version)
        return self, pos
