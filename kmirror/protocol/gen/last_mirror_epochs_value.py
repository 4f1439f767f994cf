"""LastMirrorEpochsValue: coordinator-value, key 1, versions 0, flexible from 0.

Generated from schemas/mirroring/LastMirrorEpochsValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ii, pack_ii = wire.fused("ii")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Partition(Struct):
    """Part of LastMirrorEpochsValue."""

    # Partition.
    partition_index: int = 0  # int32
    # Last mirror epoch of the partition.
    last_mirror_epoch: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("LastMirrorEpoch", "last_mirror_epoch", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.partition_index, self.last_mirror_epoch))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Partition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.last_mirror_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Topic(Struct):
    """Part of LastMirrorEpochsValue."""

    # Name of the topic.
    name: str = ""  # string
    # Exactly the partition of the key.
    partitions: list[Partition] = field(default_factory=list)  # []Partition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Partitions", "partitions", "struct", (0, 0), is_array=True, default=[], struct=Partition),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for partition in self.partitions:
            partition._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Topic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.partitions, pos = wire.read_structs(Partition._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class LastMirrorEpochsValue(Message):
    """The last leader epoch of the source that this cluster holds records of."""

    # Exactly the topic of the key.
    topics: list[Topic] = field(default_factory=list)  # []Topic

    NAME: ClassVar[str] = "LastMirrorEpochsValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=Topic),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for topic in self.topics:
            topic._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LastMirrorEpochsValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(Topic._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
