"""ShareGroupTargetAssignmentMemberValue: coordinator-value, key 13, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareGroupTargetAssignmentMemberValue.json.
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


class TopicPartition(Struct):
    """Part of ShareGroupTargetAssignmentMemberValue."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[int] = UNSET,  # []int32
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
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ShareGroupTargetAssignmentMemberValue(Message):
    """ShareGroupTargetAssignmentMemberValue, versions 0."""

    __slots__ = ("topic_partitions",)

    NAME = "ShareGroupTargetAssignmentMemberValue"
    TYPE = "coordinator-value"
    API_KEY = 13
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        topic_partitions: list[TopicPartition] = UNSET,  # []TopicPartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_partitions = [] if topic_partitions is UNSET else topic_partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topic_partitions))
        for topic_partition in self.topic_partitions:
            topic_partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupTargetAssignmentMemberValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topic_partitions, pos = wire.read_structs(TopicPartition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
