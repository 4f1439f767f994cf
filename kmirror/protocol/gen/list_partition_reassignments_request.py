"""ListPartitionReassignmentsRequest: request, key 46, versions 0, flexible from 0.

Generated from schemas/kafka/ListPartitionReassignmentsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class ListPartitionReassignmentsTopics(Struct):
    """Part of ListPartitionReassignmentsRequest."""

    __slots__ = ("name", "partition_indexes")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
        Field("PartitionIndexes", "partition_indexes", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partition_indexes: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partition_indexes = [] if partition_indexes is UNSET else partition_indexes
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partition_indexes))
        put(wire.numbers(self.partition_indexes, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListPartitionReassignmentsTopics, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partition_indexes, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ListPartitionReassignmentsRequest(Message):
    """ListPartitionReassignmentsRequest, versions 0."""

    __slots__ = ("timeout_ms", "topics")

    NAME = "ListPartitionReassignmentsRequest"
    TYPE = "request"
    API_KEY = 46
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("TimeoutMs", "timeout_ms", "int32", (0, 0), default=60000),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            struct=ListPartitionReassignmentsTopics,
        ),
    )

    def __init__(
        self,
        timeout_ms: int = 60000,  # int32
        topics: list[ListPartitionReassignmentsTopics] | None = None,  # []ListPartitionReassignmentsTopics
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.timeout_ms = timeout_ms
        self.topics = topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.timeout_ms))
        put(wire.compact_nullable_count(self.topics))
        for list_partition_reassignments_topics in self.topics or ():
            list_partition_reassignments_topics._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListPartitionReassignmentsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.topics = None
        else:
            self.topics, pos = wire.read_structs(ListPartitionReassignmentsTopics._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
