"""ConsumerGroupTargetAssignmentMemberValue: coordinator-value, key 7, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupTargetAssignmentMemberValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicPartition(Struct):
    """Part of ConsumerGroupTargetAssignmentMemberValue."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ConsumerGroupTargetAssignmentMemberValue(Message):
    """ConsumerGroupTargetAssignmentMemberValue, versions 0."""

    topic_partitions: list[TopicPartition] = field(default_factory=list)  # []TopicPartition

    NAME: ClassVar[str] = "ConsumerGroupTargetAssignmentMemberValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 7
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "TopicPartitions",
            "topic_partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicPartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topic_partitions))
        for topic_partition in self.topic_partitions:
            topic_partition._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMemberValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topic_partitions, pos = wire.read_structs(TopicPartition._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
