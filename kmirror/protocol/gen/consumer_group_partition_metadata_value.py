"""ConsumerGroupPartitionMetadataValue: coordinator-value, key 4, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupPartitionMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionMetadata(Struct):
    """Part of ConsumerGroupPartitionMetadataValue."""

    partition: int = 0  # int32
    racks: list[str] = field(default_factory=list)  # []string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Partition", "partition", "int32", (0, 0), default=0),
        Field("Racks", "racks", "string", (0, 0), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition))
        put(wire.compact_count(self.racks))
        for text in self.racks:
            put(wire.compact_string(text))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionMetadata, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.racks, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicMetadata(Struct):
    """Part of ConsumerGroupPartitionMetadataValue."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    topic_name: str = ""  # string
    num_partitions: int = 0  # int32
    partition_metadata: list[PartitionMetadata] = field(default_factory=list)  # []PartitionMetadata

    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
        put(wire.pack_int32(self.num_partitions))
        put(wire.compact_count(self.partition_metadata))
        for partition_metadata in self.partition_metadata:
            partition_metadata._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicMetadata, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        (self.num_partitions,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.partition_metadata, pos = wire.read_structs(PartitionMetadata._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ConsumerGroupPartitionMetadataValue(Message):
    """ConsumerGroupPartitionMetadataValue, versions 0."""

    topics: list[TopicMetadata] = field(default_factory=list)  # []TopicMetadata

    NAME: ClassVar[str] = "ConsumerGroupPartitionMetadataValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicMetadata),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for topic_metadata in self.topics:
            topic_metadata._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupPartitionMetadataValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 23)
        self.topics, pos = wire.read_structs(TopicMetadata._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
