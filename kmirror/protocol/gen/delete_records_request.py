"""DeleteRecordsRequest: request, key 21, versions 0-2, flexible from 2.

Generated from schemas/kafka/DeleteRecordsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_iq, pack_iq = wire.fused("iq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteRecordsPartition(Struct):
    """Part of DeleteRecordsRequest."""

    partition_index: int = 0  # int32
    offset: int = 0  # int64

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 2), default=0),
        Field("Offset", "offset", "int64", (0, 2), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.partition_index, self.offset))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.offset = unpack_iq(buf, pos)
        pos += 12
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteRecordsTopic(Struct):
    """Part of DeleteRecordsRequest."""

    name: str = ""  # string, topicName
    partitions: list[DeleteRecordsPartition] = field(default_factory=list)  # []DeleteRecordsPartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 2), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=DeleteRecordsPartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        for delete_records_partition in self.partitions:
            delete_records_partition._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 12)
        self.partitions, pos = wire.read_structs(DeleteRecordsPartition._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteRecordsRequest(Message):
    """DeleteRecordsRequest, versions 0-2."""

    topics: list[DeleteRecordsTopic] = field(default_factory=list)  # []DeleteRecordsTopic
    timeout_ms: int = 0  # int32

    NAME: ClassVar[str] = "DeleteRecordsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "struct", (0, 2), is_array=True, default=[], struct=DeleteRecordsTopic),
        Field("TimeoutMs", "timeout_ms", "int32", (0, 2), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for delete_records_topic in self.topics:
            delete_records_topic._write(put, version)
        put(wire.pack_int32(self.timeout_ms))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(DeleteRecordsTopic._read, buf, pos, n, version)
        (self.timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
