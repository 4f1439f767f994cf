"""ElectLeadersRequest: request, key 43, versions 0-2, flexible from 2.

Generated from schemas/kafka/ElectLeadersRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class TopicPartitions(Struct):
    """Part of ElectLeadersRequest."""

    __slots__ = ("topic", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (0, 2), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (0, 2), is_array=True, default=[]),
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
        put((wire.compact_string if version >= 2 else wire.string)(self.topic))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ElectLeadersRequest(Message):
    """ElectLeadersRequest, versions 0-2."""

    __slots__ = ("election_type", "topic_partitions", "timeout_ms")

    NAME = "ElectLeadersRequest"
    TYPE = "request"
    API_KEY = 43
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
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

    def __init__(
        self,
        election_type: int = 0,  # int8, v1+
        topic_partitions: list[TopicPartitions] | None = UNSET,  # []TopicPartitions
        timeout_ms: int = 60000,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.election_type = election_type
        self.topic_partitions = [] if topic_partitions is UNSET else topic_partitions
        self.timeout_ms = timeout_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ElectLeadersRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
