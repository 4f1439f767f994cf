"""ListOffsetsRequest: request, key 2, versions 1-11, flexible from 6.

Generated from schemas/kafka/ListOffsetsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class ListOffsetsPartition(Struct):
    """Part of ListOffsetsRequest."""

    __slots__ = ("partition_index", "current_leader_epoch", "timestamp")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (1, 11), default=0),
        Field("CurrentLeaderEpoch", "current_leader_epoch", "int32", (4, 11), default=-1, ignorable=True),
        Field("Timestamp", "timestamp", "int64", (1, 11), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Leader epoch as the asker knows it; an older one is fenced.
        current_leader_epoch: int = -1,  # int32, v4+, ignorable
        # Time in milliseconds; below 0 the first, last and other special offsets.
        timestamp: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.current_leader_epoch = current_leader_epoch
        self.timestamp = timestamp
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        if version >= 4:
            put(wire.pack_int32(self.current_leader_epoch))
        put(wire.pack_int64(self.timestamp))
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 4:
            (self.current_leader_epoch,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.current_leader_epoch = -1
        (self.timestamp,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ListOffsetsTopic(Struct):
    """Part of ListOffsetsRequest."""

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
            struct=ListOffsetsPartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # The partitions.
        partitions: list[ListOffsetsPartition] = UNSET,  # []ListOffsetsPartition
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
        for list_offsets_partition in self.partitions:
            list_offsets_partition._write(put, version)
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 6 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 12)
        self.partitions, pos = wire.read_structs(ListOffsetsPartition._read, buf, pos, n, version)
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ListOffsetsRequest(Message):
    """Asks for offsets by time, or for the first and the last one."""

    __slots__ = ("replica_id", "isolation_level", "topics", "timeout_ms")

    NAME = "ListOffsetsRequest"
    TYPE = "request"
    API_KEY = 2
    MIN_VERSION = 1
    MAX_VERSION = 11
    FLEXIBLE_FROM = 6
    FIELDS = (
        Field("ReplicaId", "replica_id", "int32", (1, 11), default=0, entity="brokerId"),
        Field("IsolationLevel", "isolation_level", "int8", (2, 11), default=0),
        Field("Topics", "topics", "struct", (1, 11), is_array=True, default=[], struct=ListOffsetsTopic),
        Field("TimeoutMs", "timeout_ms", "int32", (10, 11), default=0, ignorable=True),
    )

    def __init__(
        self,
        # Broker id of a follower, -1 for a consumer.
        replica_id: int = 0,  # int32, brokerId
        # 0 everything up to the high watermark, 1 up to the last stable offset.
        isolation_level: int = 0,  # int8, v2+
        # The topics.
        topics: list[ListOffsetsTopic] = UNSET,  # []ListOffsetsTopic
        # How long the broker may take, in milliseconds.
        timeout_ms: int = 0,  # int32, v10+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.replica_id = replica_id
        self.isolation_level = isolation_level
        self.topics = [] if topics is UNSET else topics
        self.timeout_ms = timeout_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.replica_id))
        if version >= 2:
            put(wire.pack_int8(self.isolation_level))
        elif self.isolation_level:
            raise wire.Unwritable
        put((wire.compact_count if version >= 6 else wire.count)(self.topics))
        for list_offsets_topic in self.topics:
            list_offsets_topic._write(put, version)
        if version >= 10:
            put(wire.pack_int32(self.timeout_ms))
        if version >= 6:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListOffsetsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.replica_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            (self.isolation_level,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.isolation_level = 0
        n, pos = (wire.read_compact_count if version >= 6 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(ListOffsetsTopic._read, buf, pos, n, version)
        if version >= 10:
            (self.timeout_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.timeout_ms = 0
        if version >= 6:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
