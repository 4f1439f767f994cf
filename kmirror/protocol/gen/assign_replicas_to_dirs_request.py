"""AssignReplicasToDirsRequest: request, key 73, versions 0, flexible from 0.

Generated from schemas/kafka/AssignReplicasToDirsRequest.json.
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

unpack_iq, pack_iq = wire.fused("iq")


class PartitionData(Struct):
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = ("partition_index",)

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicData(Struct):
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partitions", "partitions", "struct", (0, 0), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DirectoryData(Struct):
    """Part of AssignReplicasToDirsRequest."""

    __slots__ = ("id", "topics")

    FIELDS = (
        Field("Id", "id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicData),
    )

    def __init__(
        self,
        id: Uuid = Uuid.ZERO,  # uuid
        topics: list[TopicData] = UNSET,  # []TopicData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.id = id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.id))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DirectoryData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AssignReplicasToDirsRequest(Message):
    """AssignReplicasToDirsRequest, versions 0."""

    __slots__ = ("broker_id", "broker_epoch", "directories")

    NAME = "AssignReplicasToDirsRequest"
    TYPE = "request"
    API_KEY = 73
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (0, 0), default=0, entity="brokerId"),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 0), default=-1),
        Field(
            "Directories",
            "directories",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=DirectoryData,
        ),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        broker_epoch: int = -1,  # int64
        directories: list[DirectoryData] = UNSET,  # []DirectoryData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        self.directories = [] if directories is UNSET else directories
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.broker_id, self.broker_epoch))
        put(wire.compact_count(self.directories))
        for directory_data in self.directories:
            directory_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AssignReplicasToDirsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.broker_id, self.broker_epoch = unpack_iq(buf, pos)
        pos += 12
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.directories, pos = wire.read_structs(DirectoryData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
