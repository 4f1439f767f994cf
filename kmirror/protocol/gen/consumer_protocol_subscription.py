"""ConsumerProtocolSubscription: data, versions 0-3, never flexible.

Generated from schemas/kafka/ConsumerProtocolSubscription.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicPartition(Struct):
    """Part of ConsumerProtocolSubscription, v1+."""

    topic: str = ""  # string, topicName
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topic", "topic", "string", (1, 3), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (1, 3), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.topic))
        put(wire.count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic, pos = wire.read_string(buf, pos)
        n, pos = wire.read_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ConsumerProtocolSubscription(Message):
    """ConsumerProtocolSubscription, versions 0-3."""

    topics: list[str] = field(default_factory=list)  # []string
    user_data: bytes | None = None  # bytes
    owned_partitions: list[TopicPartition] = field(default_factory=list)  # []TopicPartition, v1+, ignorable
    generation_id: int = -1  # int32, v2+, ignorable
    rack_id: str | None = None  # string, v3+, ignorable

    NAME: ClassVar[str] = "ConsumerProtocolSubscription"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "string", (0, 3), is_array=True, default=[]),
        Field("UserData", "user_data", "bytes", (0, 3), nullable=(0, 3)),
        Field(
            "OwnedPartitions",
            "owned_partitions",
            "struct",
            (1, 3),
            is_array=True,
            default=[],
            ignorable=True,
            struct=TopicPartition,
        ),
        Field("GenerationId", "generation_id", "int32", (2, 3), default=-1, ignorable=True),
        Field("RackId", "rack_id", "string", (3, 3), nullable=(3, 3), ignorable=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.count(self.topics))
        for text in self.topics:
            put(wire.string(text))
        wire.put_nullable_bytes(put, self.user_data)
        if version >= 1:
            put(wire.count(self.owned_partitions))
            for topic_partition in self.owned_partitions:
                topic_partition._write(put, version)
        if version >= 2:
            put(wire.pack_int32(self.generation_id))
        if version >= 3:
            put(wire.nullable_string(self.rack_id))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerProtocolSubscription, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_count(buf, pos, 2)
        self.topics, pos = wire.read_many(wire.read_string, buf, pos, n)
        self.user_data, pos = wire.read_nullable_bytes(buf, pos)
        if version >= 1:
            n, pos = wire.read_count(buf, pos, 6)
            self.owned_partitions, pos = wire.read_structs(TopicPartition._read, buf, pos, n, version)
        else:
            self.owned_partitions = []
        if version >= 2:
            (self.generation_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.generation_id = -1
        if version >= 3:
            self.rack_id, pos = wire.read_nullable_string(buf, pos)
        else:
            self.rack_id = None
        return self, pos
