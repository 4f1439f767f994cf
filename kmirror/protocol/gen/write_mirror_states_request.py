"""WriteMirrorStatesRequest: request, key 101, versions 0, flexible from 0.

Generated from schemas/mirroring/WriteMirrorStatesRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_iib, pack_iib = wire.fused("iib")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionData(Struct):
    """Part of WriteMirrorStatesRequest."""

    # Partition.
    partition_index: int = 0  # int32
    # Last mirror epoch, -1 if there is none.
    last_mirror_epoch: int = -1  # int32
    # Byte of the mirror state.
    state: int = 0  # int8
    # Leader epoch of the mirrored partition at the time of the write: an older one is fenced.
    leader_epoch: int = -1  # int32, tag 0

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("LastMirrorEpoch", "last_mirror_epoch", "int32", (0, 0), default=-1),
        Field("State", "state", "int8", (0, 0), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), tagged=(0, 0), tag=0, default=-1),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iib(self.partition_index, self.last_mirror_epoch, self.state))
        tags: list[tuple[int, bytes]] = []
        if self.leader_epoch != -1:
            tags.append((0, wire.pack_int32(self.leader_epoch)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.last_mirror_epoch, self.state = unpack_iib(buf, pos)
        pos += 9
        self.leader_epoch = -1
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (self.leader_epoch,) = wire.unpack_int32(buf, pos)
                pos += 4
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicData(Struct):
    """Part of WriteMirrorStatesRequest."""

    # Name of the topic.
    name: str = ""  # string, topicName
    # One entry for each partition.
    partitions: list[PartitionData] = field(default_factory=list)  # []PartitionData
    # Id of the topic: guards against a topic of the same name that was made anew.
    topic_id: Uuid = Uuid.ZERO  # uuid, tag 0

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
        Field("Partitions", "partitions", "struct", (0, 0), is_array=True, default=[], struct=PartitionData),
        Field("TopicId", "topic_id", "uuid", (0, 0), tagged=(0, 0), tag=0, default=Uuid.ZERO),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        tags: list[tuple[int, bytes]] = []
        if self.topic_id != Uuid.ZERO:
            tags.append((0, wire.uuid(self.topic_id)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 10)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        self.topic_id = Uuid.ZERO
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                self.topic_id, pos = wire.read_uuid(buf, pos)
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WriteMirrorStatesRequest(Message):
    """Asks the mirror coordinator to persist states."""

    # Name of the mirror.
    mirror_name: str = ""  # string, mirrorName
    # What to persist.
    topics: list[TopicData] = field(default_factory=list)  # []TopicData
    # Names of topics that left the mirror.
    removed_topics: list[str] = field(default_factory=list)  # []string

    NAME: ClassVar[str] = "WriteMirrorStatesRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 101
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicData),
        Field("RemovedTopics", "removed_topics", "string", (0, 0), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        put(wire.compact_count(self.removed_topics))
        for text in self.removed_topics:
            put(wire.compact_string(text))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteMirrorStatesRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.removed_topics, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
