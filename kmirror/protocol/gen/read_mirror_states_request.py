"""ReadMirrorStatesRequest: request, key 100, versions 0, flexible from 0.

Generated from schemas/mirroring/ReadMirrorStatesRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class PartitionData(Struct):
    """Part of ReadMirrorStatesRequest."""

    __slots__ = ("partition_index",)

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicData(Struct):
    """Part of ReadMirrorStatesRequest."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
        Field("Partitions", "partitions", "struct", (0, 0), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # Which partitions.
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReadMirrorStatesRequest(Message):
    """Asks the mirror coordinator for persisted states."""

    __slots__ = ("mirror_name", "topics")

    NAME = "ReadMirrorStatesRequest"
    TYPE = "request"
    API_KEY = 100
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicData),
    )

    def __init__(
        self,
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        # Which topics.
        topics: list[TopicData] = UNSET,  # []TopicData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_name = mirror_name
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReadMirrorStatesRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
