"""ElectLeadersRequest: request, key 43, versions 0-2, flexible from 2.

Generated from schemas/kafka/ElectLeadersRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicPartitions(Struct):
    """Part of ElectLeadersRequest."""

    topic: str = ""  # string, topicName
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topic", "topic", "string", (0, 2), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (0, 2), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.topic))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ElectLeadersRequest(Message):
    """ElectLeadersRequest, versions 0-2."""

    election_type: int = 0  # int8, v1+
    topic_partitions: list[TopicPartitions] | None = field(default_factory=list)  # []TopicPartitions
    timeout_ms: int = 60000  # int32

    NAME: ClassVar[str] = "ElectLeadersRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 43
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ElectionType", "election_type", "int8", (1, 2), default=0),
        Field(
            "TopicPartitions",
            "topic_partitions",
            "struct",
            (0, 2),
            is_array=True,
            nullable=(0, 2),
            default=[],
            struct=TopicPartitions,
        ),
        Field("TimeoutMs", "timeout_ms", "int32", (0, 2), default=60000),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.pack_int8(self.election_type))
        elif self.election_type:
            raise wire.Unwritable
        put((wire.compact_nullable_count if version >= 2 else wire.nullable_count)(self.topic_partitions))
        for topic_partitions in self.topic_partitions or ():
            topic_partitions._write(put, version)
        put(wire.pack_int32(self.timeout_ms))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ElectLeadersRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version >= 1:
            (self.election_type,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.election_type = 0
        n, pos = (wire.read_compact_nullable_count if version >= 2 else wire.read_nullable_count)(buf, pos, 3)
        if n < 0:
            self.topic_partitions = None
        else:
            self.topic_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        (self.timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
