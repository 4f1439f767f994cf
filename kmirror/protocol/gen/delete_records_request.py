"""DeleteRecordsRequest: request, key 21, versions 0-2, flexible from 2.

Generated from schemas/kafka/DeleteRecordsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iq, pack_iq = wire.fused("iq")


class DeleteRecordsPartition(Struct):
    """Part of DeleteRecordsRequest."""

    __slots__ = ("partition_index", "offset")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 2), default=0),
        Field("Offset", "offset", "int64", (0, 2), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        offset: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.offset = offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.partition_index, self.offset))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.offset = unpack_iq(buf, pos)
        pos += 12
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DeleteRecordsTopic(Struct):
    """Part of DeleteRecordsRequest."""

    __slots__ = ("name", "partitions")

    FIELDS = (
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

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[DeleteRecordsPartition] = UNSET,  # []DeleteRecordsPartition
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
        for delete_records_partition in self.partitions:
            delete_records_partition._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 12)
        self.partitions, pos = wire.read_structs(DeleteRecordsPartition._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DeleteRecordsRequest(Message):
    """DeleteRecordsRequest, versions 0-2."""

    __slots__ = ("topics", "timeout_ms")

    NAME = "DeleteRecordsRequest"
    TYPE = "request"
    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("Topics", "topics", "struct", (0, 2), is_array=True, default=[], struct=DeleteRecordsTopic),
        Field("TimeoutMs", "timeout_ms", "int32", (0, 2), default=0),
    )

    def __init__(
        self,
        topics: list[DeleteRecordsTopic] = UNSET,  # []DeleteRecordsTopic
        timeout_ms: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        self.timeout_ms = timeout_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for delete_records_topic in self.topics:
            delete_records_topic._write(put, version)
        put(wire.pack_int32(self.timeout_ms))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteRecordsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(DeleteRecordsTopic._read, buf, pos, n, version)
        (self.timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
