"""ShareGroupStatePartitionMetadataValue: coordinator-value, key 15, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareGroupStatePartitionMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicPartitionsInfo(Struct):
    """Part of ShareGroupStatePartitionMetadataValue."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    topic_name: str = ""  # string
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitionsInfo, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicInfo(Struct):
    """Part of ShareGroupStatePartitionMetadataValue."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    topic_name: str = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicInfo, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ShareGroupStatePartitionMetadataValue(Message):
    """ShareGroupStatePartitionMetadataValue, versions 0."""

    initializing_topics: list[TopicPartitionsInfo] = field(default_factory=list)  # []TopicPartitionsInfo
    initialized_topics: list[TopicPartitionsInfo] = field(default_factory=list)  # []TopicPartitionsInfo
    deleting_topics: list[TopicInfo] = field(default_factory=list)  # []TopicInfo

    NAME: ClassVar[str] = "ShareGroupStatePartitionMetadataValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "InitializingTopics",
            "initializing_topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicPartitionsInfo,
        ),
        Field(
            "InitializedTopics",
            "initialized_topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicPartitionsInfo,
        ),
        Field(
            "DeletingTopics",
            "deleting_topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicInfo,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.initializing_topics))
        for topic_partitions_info in self.initializing_topics:
            topic_partitions_info._write(put, version)
        put(wire.compact_count(self.initialized_topics))
        for topic_partitions_info in self.initialized_topics:
            topic_partitions_info._write(put, version)
        put(wire.compact_count(self.deleting_topics))
        for topic_info in self.deleting_topics:
            topic_info._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupStatePartitionMetadataValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.initializing_topics, pos = wire.read_structs(TopicPartitionsInfo._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.initialized_topics, pos = wire.read_structs(TopicPartitionsInfo._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.deleting_topics, pos = wire.read_structs(TopicInfo._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
