"""WriteTxnMarkersResponse: response, key 27, versions 1-2, flexible from 1.

Generated from schemas/kafka/WriteTxnMarkersResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class WritableTxnMarkerPartitionResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    __slots__ = ("partition_index", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (1, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarkerPartitionResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WritableTxnMarkerTopicResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    __slots__ = ("name", "partitions")

    FIELDS = (
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

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[WritableTxnMarkerPartitionResult] = UNSET,  # []WritableTxnMarkerPartitionResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for writable_txn_marker_partition_result in self.partitions:
            writable_txn_marker_partition_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarkerTopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 7)
        self.partitions, pos = wire.read_structs(WritableTxnMarkerPartitionResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WritableTxnMarkerResult(Struct):
    """Part of WriteTxnMarkersResponse."""

    __slots__ = ("producer_id", "topics")

    FIELDS = (
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

    def __init__(
        self,
        producer_id: int = 0,  # int64, producerId
        topics: list[WritableTxnMarkerTopicResult] = UNSET,  # []WritableTxnMarkerTopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.producer_id = producer_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int64(self.producer_id))
        put(wire.compact_count(self.topics))
        for writable_txn_marker_topic_result in self.topics:
            writable_txn_marker_topic_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WritableTxnMarkerResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.producer_id,) = wire.unpack_int64(buf, pos)
        pos += 8
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(WritableTxnMarkerTopicResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WriteTxnMarkersResponse(Message):
    """WriteTxnMarkersResponse, versions 1-2."""

    __slots__ = ("markers",)

    NAME = "WriteTxnMarkersResponse"
    TYPE = "response"
    API_KEY = 27
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 1
    FIELDS = (
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

    def __init__(
        self,
        markers: list[WritableTxnMarkerResult] = UNSET,  # []WritableTxnMarkerResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.markers = [] if markers is UNSET else markers
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.markers))
        for writable_txn_marker_result in self.markers:
            writable_txn_marker_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteTxnMarkersResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 10)
        self.markers, pos = wire.read_structs(WritableTxnMarkerResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
