"""ConsumerProtocolSubscription: data, versions 0-3, never flexible.

Generated from schemas/kafka/ConsumerProtocolSubscription.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class TopicPartition(Struct):
    """Part of ConsumerProtocolSubscription, v1+."""

    __slots__ = ("topic", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (1, 3), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (1, 3), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic: str = "",  # string, topicName
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic = topic
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.topic))
        put(wire.count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = wire.read_string(buf, pos)
        n, pos = wire.read_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        return self, pos


class ConsumerProtocolSubscription(Message):
    """ConsumerProtocolSubscription, versions 0-3."""

    __slots__ = ("topics", "user_data", "owned_partitions", "generation_id", "rack_id")

    NAME = "ConsumerProtocolSubscription"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_FROM = None
    FIELDS = (
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

    def __init__(
        self,
        topics: list[str] = UNSET,  # []string
        user_data: bytes | None = None,  # bytes
        owned_partitions: list[TopicPartition] = UNSET,  # []TopicPartition, v1+, ignorable
        generation_id: int = -1,  # int32, v2+, ignorable
        rack_id: str | None = None,  # string, v3+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        self.user_data = user_data
        self.owned_partitions = [] if owned_partitions is UNSET else owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerProtocolSubscription, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
