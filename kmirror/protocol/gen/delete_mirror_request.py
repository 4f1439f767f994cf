"""DeleteMirrorRequest: request, key 104, versions 0, flexible from 0.

Generated from schemas/mirroring/DeleteMirrorRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag


class Stretch(Struct):
    """Part of DeleteMirrorRequest."""

    __slots__ = ("first_epoch", "cluster_id")

    FIELDS = (
        Field("FirstEpoch", "first_epoch", "int32", (0, 0), default=0),
        Field("ClusterId", "cluster_id", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        # First leader epoch of the stretch; of a copy, -1 minus its leader epoch (D69).
        first_epoch: int = 0,  # int32
        # The cluster that wrote it.
        cluster_id: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.first_epoch = first_epoch
        self.cluster_id = cluster_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.first_epoch))
        put(wire.compact_string(self.cluster_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Stretch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.first_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.cluster_id, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class StoppedPartition(Struct):
    """Part of DeleteMirrorRequest."""

    __slots__ = ("partition_index", "lineage")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("Lineage", "lineage", "struct", (0, 0), is_array=True, default=[], struct=Stretch),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Which clusters wrote the log, as it is persisted with the state.
        lineage: list[Stretch] = UNSET,  # []Stretch
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.lineage = [] if lineage is UNSET else lineage
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        put(wire.compact_count(self.lineage))
        for stretch in self.lineage:
            stretch._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StoppedPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.lineage, pos = wire.read_structs(Stretch._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class StoppedTopic(Struct):
    """Part of DeleteMirrorRequest."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=StoppedPartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        topic_name: str = "",  # string, topicName
        # The partitions that are STOPPED.
        partitions: list[StoppedPartition] = UNSET,  # []StoppedPartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for stopped_partition in self.partitions:
            stopped_partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StoppedTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.partitions, pos = wire.read_structs(StoppedPartition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DeleteMirrorRequest(Message):
    """Deletes a mirror that has no topic left which is not STOPPED."""

    __slots__ = ("mirror_name",)

    stopped_topics = Tagged[list[StoppedTopic]]("stopped_topics", list)

    NAME = "DeleteMirrorRequest"
    TYPE = "request"
    API_KEY = 104
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field(
            "StoppedTopics",
            "stopped_topics",
            "struct",
            (0, 0),
            is_array=True,
            tagged=(0, 0),
            tag=0,
            default=[],
            struct=StoppedTopic,
        ),
    )

    def __init__(
        self,
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        # Topics whose partitions a broker found STOPPED; clients leave it empty.
        stopped_topics: list[StoppedTopic] = UNSET,  # []StoppedTopic, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_name = mirror_name
        if stopped_topics is not UNSET:
            self.stopped_topics = stopped_topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "stopped_topics" in tagged and tagged["stopped_topics"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["stopped_topics"]))
            for stopped_topic in tagged["stopped_topics"]:
                stopped_topic._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteMirrorRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_count(buf, pos, 3)
                tagged["stopped_topics"], pos = wire.read_structs(StoppedTopic._read, buf, pos, n, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
