"""LastMirrorEpochsValue: coordinator-value, key 1, versions 0, flexible from 0.

Generated from schemas/mirroring/LastMirrorEpochsValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ii, pack_ii = wire.fused("ii")


class Partition(Struct):
    """Part of LastMirrorEpochsValue."""

    __slots__ = ("partition_index", "last_mirror_epoch")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("LastMirrorEpoch", "last_mirror_epoch", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Last mirror epoch of the partition.
        last_mirror_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.last_mirror_epoch = last_mirror_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.partition_index, self.last_mirror_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Partition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.last_mirror_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Topic(Struct):
    """Part of LastMirrorEpochsValue."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Partitions", "partitions", "struct", (0, 0), is_array=True, default=[], struct=Partition),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string
        # Exactly the partition of the key.
        partitions: list[Partition] = UNSET,  # []Partition
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
        for partition in self.partitions:
            partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Topic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.partitions, pos = wire.read_structs(Partition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class LastMirrorEpochsValue(Message):
    """The last leader epoch of the source that this cluster holds records of."""

    __slots__ = ("topics",)

    NAME = "LastMirrorEpochsValue"
    TYPE = "coordinator-value"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=Topic),
    )

    def __init__(
        self,
        # Exactly the topic of the key.
        topics: list[Topic] = UNSET,  # []Topic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for topic in self.topics:
            topic._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LastMirrorEpochsValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(Topic._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
