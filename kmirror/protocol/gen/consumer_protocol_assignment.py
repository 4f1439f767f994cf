"""ConsumerProtocolAssignment: data, versions 0-3, never flexible.

Generated from schemas/kafka/ConsumerProtocolAssignment.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicPartition(Struct):
    """Part of ConsumerProtocolAssignment."""

    topic: str = ""  # string, topicName
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topic", "topic", "string", (0, 3), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (0, 3), is_array=True, default=[]),
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
class ConsumerProtocolAssignment(Message):
    """ConsumerProtocolAssignment, versions 0-3."""

    assigned_partitions: list[TopicPartition] = field(default_factory=list)  # []TopicPartition
    user_data: bytes | None = None  # bytes

    NAME: ClassVar[str] = "ConsumerProtocolAssignment"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "AssignedPartitions",
            "assigned_partitions",
            "struct",
            (0, 3),
            is_array=True,
            default=[],
            struct=TopicPartition,
        ),
        Field("UserData", "user_data", "bytes", (0, 3), nullable=(0, 3)),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.count(self.assigned_partitions))
        for topic_partition in self.assigned_partitions:
            topic_partition._write(put, version)
        wire.put_nullable_bytes(put, self.user_data)
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerProtocolAssignment, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_count(buf, pos, 6)
        self.assigned_partitions, pos = wire.read_structs(TopicPartition._read, buf, pos, n, version)
        self.user_data, pos = wire.read_nullable_bytes(buf, pos)
        return self, pos
