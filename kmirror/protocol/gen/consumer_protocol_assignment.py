"""ConsumerProtocolAssignment: data, versions 0-3, never flexible.

Generated from schemas/kafka/ConsumerProtocolAssignment.json.
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
    """Part of ConsumerProtocolAssignment."""

    __slots__ = ("topic", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (0, 3), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (0, 3), is_array=True, default=[]),
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


class ConsumerProtocolAssignment(Message):
    """ConsumerProtocolAssignment, versions 0-3."""

    __slots__ = ("assigned_partitions", "user_data")

    NAME = "ConsumerProtocolAssignment"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_FROM = None
    FIELDS = (
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

    def __init__(
        self,
        assigned_partitions: list[TopicPartition] = UNSET,  # []TopicPartition
        user_data: bytes | None = None,  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.assigned_partitions = [] if assigned_partitions is UNSET else assigned_partitions
        self.user_data = user_data
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.count(self.assigned_partitions))
        for topic_partition in self.assigned_partitions:
            topic_partition._write(put, version)
        wire.put_nullable_bytes(put, self.user_data)
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerProtocolAssignment, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_count(buf, pos, 6)
        self.assigned_partitions, pos = wire.read_structs(TopicPartition._read, buf, pos, n, version)
        self.user_data, pos = wire.read_nullable_bytes(buf, pos)
        return self, pos
