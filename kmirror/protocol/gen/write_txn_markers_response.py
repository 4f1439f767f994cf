"""WriteTxnMarkersResponse: response, key 27, versions 1-2, flexible from 1.

Generated from schemas/kafka/WriteTxnMarkersResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WritableTxnMarkerPartitionResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    partition_index: int = 0  # int32
    error_code: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (1, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarkerPartitionResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WritableTxnMarkerTopicResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    name: str = ""  # string, topicName
    partitions: list[WritableTxnMarkerPartitionResult] = field(default_factory=list)  # []WritableTxnMarkerPartitionResult

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (1, 2), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=WritableTxnMarkerPartitionResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for writable_txn_marker_partition_result in self.partitions:
            writable_txn_marker_partition_result._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarkerTopicResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 7)
        self.partitions, pos = wire.read_structs(WritableTxnMarkerPartitionResult._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WritableTxnMarkerResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    producer_id: int = 0  # int64, producerId
    topics: list[WritableTxnMarkerTopicResult] = field(default_factory=list)  # []WritableTxnMarkerTopicResult

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ProducerId", "producer_id", "int64", (1, 2), default=0, entity="producerId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=WritableTxnMarkerTopicResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int64(self.producer_id))
        put(wire.compact_count(self.topics))
        for writable_txn_marker_topic_result in self.topics:
            writable_txn_marker_topic_result._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarkerResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.producer_id,) = wire.unpack_int64(buf, pos)
        pos += 8
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(WritableTxnMarkerTopicResult._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WriteTxnMarkersResponse(Message):
    """WriteTxnMarkersResponse, versions 1-2."""

    markers: list[WritableTxnMarkerResult] = field(default_factory=list)  # []WritableTxnMarkerResult

    NAME: ClassVar[str] = "WriteTxnMarkersResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 27
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "Markers",
            "markers",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=WritableTxnMarkerResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.markers))
        for writable_txn_marker_result in self.markers:
            writable_txn_marker_result._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteTxnMarkersResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 10)
        self.markers, pos = wire.read_structs(WritableTxnMarkerResult._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
