"""ConsumerGroupPartitionMetadataValue: coordinator-value, key 4, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupPartitionMetadataValue.json.
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


class PartitionMetadata(Struct):
    """Part of ConsumerGroupPartitionMetadataValue."""

    __slots__ = ("partition", "racks")

    FIELDS = (
        Field("Partition", "partition", "int32", (0, 0), default=0),
        Field("Racks", "racks", "string", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        partition: int = 0,  # int32
        racks: list[str] = UNSET,  # []string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.racks = [] if racks is UNSET else racks
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition))
        put(wire.compact_count(self.racks))
        for text in self.racks:
            put(wire.compact_string(text))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionMetadata, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.racks, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicMetadata(Struct):
    """Part of ConsumerGroupPartitionMetadataValue."""

    __slots__ = ("topic_id", "topic_name", "num_partitions", "partition_metadata")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
        Field("NumPartitions", "num_partitions", "int32", (0, 0), default=0),
        Field(
            "PartitionMetadata",
            "partition_metadata",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=PartitionMetadata,
        ),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        topic_name: str = "",  # string
        num_partitions: int = 0,  # int32
        partition_metadata: list[PartitionMetadata] = UNSET,  # []PartitionMetadata
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.num_partitions = num_partitions
        self.partition_metadata = [] if partition_metadata is UNSET else partition_metadata
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
        put(wire.pack_int32(self.num_partitions))
        put(wire.compact_count(self.partition_metadata))
        for partition_metadata in self.partition_metadata:
            partition_metadata._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicMetadata, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        (self.num_partitions,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.partition_metadata, pos = wire.read_structs(PartitionMetadata._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ConsumerGroupPartitionMetadataValue(Message):
    """ConsumerGroupPartitionMetadataValue, versions 0."""

    __slots__ = ("topics",)

    NAME = "ConsumerGroupPartitionMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 4
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicMetadata),
    )

    def __init__(
        self,
        topics: list[TopicMetadata] = UNSET,  # []TopicMetadata
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for topic_metadata in self.topics:
            topic_metadata._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 23)
        self.topics, pos = wire.read_structs(TopicMetadata._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
