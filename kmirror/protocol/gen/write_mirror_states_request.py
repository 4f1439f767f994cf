"""WriteMirrorStatesRequest: request, key 101, versions 0, flexible from 0.

Generated from schemas/mirroring/WriteMirrorStatesRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_ii, pack_ii = wire.fused("ii")
unpack_iib, pack_iib = wire.fused("iib")


class UncutReplica(Struct):
    """Part of WriteMirrorStatesRequest."""

    __slots__ = ("replica_id", "cut_epoch")

    FIELDS = (
        Field("ReplicaId", "replica_id", "int32", (0, 0), default=0),
        Field("CutEpoch", "cut_epoch", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        # Broker that holds the replica.
        replica_id: int = 0,  # int32
        # Last leader epoch that the replica may keep, -1 for none.
        cut_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.replica_id = replica_id
        self.cut_epoch = cut_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.replica_id, self.cut_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UncutReplica, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.replica_id, self.cut_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Stretch(Struct):
    """Part of WriteMirrorStatesRequest."""

    __slots__ = ("first_epoch", "cluster_id")

    FIELDS = (
        Field("FirstEpoch", "first_epoch", "int32", (0, 0), default=0),
        Field("ClusterId", "cluster_id", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        # First leader epoch of the stretch; of a copy, -1 minus its leader epoch (D69).
        first_epoch: int = 0,  # int32
        # Cluster that wrote it.
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


class PartitionData(Struct):
    """Part of WriteMirrorStatesRequest."""

    __slots__ = ("partition_index", "last_mirror_epoch", "state")

    leader_epoch = Tagged[int]("leader_epoch", -1)
    uncut_replicas = Tagged[list[UncutReplica]]("uncut_replicas", list)
    stop_offset = Tagged[int]("stop_offset", -1)
    stop_epoch = Tagged[int]("stop_epoch", -1)
    committed_producers = Tagged[list[int]]("committed_producers", list)
    lineage = Tagged[list[Stretch]]("lineage", list)
    lineage_epoch = Tagged[int]("lineage_epoch", -1)

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("LastMirrorEpoch", "last_mirror_epoch", "int32", (0, 0), default=-1),
        Field("State", "state", "int8", (0, 0), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), tagged=(0, 0), tag=0, default=-1),
        Field(
            "UncutReplicas",
            "uncut_replicas",
            "struct",
            (0, 0),
            is_array=True,
            tagged=(0, 0),
            tag=1,
            default=[],
            struct=UncutReplica,
        ),
        Field("StopOffset", "stop_offset", "int64", (0, 0), tagged=(0, 0), tag=2, default=-1),
        Field("StopEpoch", "stop_epoch", "int32", (0, 0), tagged=(0, 0), tag=3, default=-1),
        Field(
            "CommittedProducers",
            "committed_producers",
            "int64",
            (0, 0),
            is_array=True,
            tagged=(0, 0),
            tag=4,
            default=[],
            entity="producerId",
        ),
        Field(
            "Lineage",
            "lineage",
            "struct",
            (0, 0),
            is_array=True,
            tagged=(0, 0),
            tag=5,
            default=[],
            struct=Stretch,
        ),
        Field("LineageEpoch", "lineage_epoch", "int32", (0, 0), tagged=(0, 0), tag=6, default=-1),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # Last mirror epoch, -1 if there is none.
        last_mirror_epoch: int = -1,  # int32
        # Byte of the mirror state.
        state: int = 0,  # int8
        # Leader epoch of the mirrored partition at the time of the write: an older one is fenced.
        leader_epoch: int = -1,  # int32, tag 0
        # Replicas that have not confirmed a cut of the log; -1 stands for the session itself.
        uncut_replicas: list[UncutReplica] = UNSET,  # []UncutReplica, tag 1
        # Where the stop under way ends what was mirrored, -1 until it is decided.
        stop_offset: int = -1,  # int64, tag 2
        # Least leader epoch of what the stop itself writes, -1 until it is decided.
        stop_epoch: int = -1,  # int32, tag 3
        # Producers whose open transaction the stop commits; it aborts all others.
        committed_producers: list[int] = UNSET,  # []int64, tag 4, producerId
        # Which clusters wrote the log, by leader epoch; empty while only this cluster did.
        lineage: list[Stretch] = UNSET,  # []Stretch, tag 5
        # Leader epoch from which on the lineage holds: before it nothing is appended.
        lineage_epoch: int = -1,  # int32, tag 6
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.last_mirror_epoch = last_mirror_epoch
        self.state = state
        if leader_epoch != -1:
            self.leader_epoch = leader_epoch
        if uncut_replicas is not UNSET:
            self.uncut_replicas = uncut_replicas
        if stop_offset != -1:
            self.stop_offset = stop_offset
        if stop_epoch != -1:
            self.stop_epoch = stop_epoch
        if committed_producers is not UNSET:
            self.committed_producers = committed_producers
        if lineage is not UNSET:
            self.lineage = lineage
        if lineage_epoch != -1:
            self.lineage_epoch = lineage_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iib(self.partition_index, self.last_mirror_epoch, self.state))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "leader_epoch" in tagged and tagged["leader_epoch"] != -1:
            tags.append(wire.tag(0, wire.pack_int32(tagged["leader_epoch"])))
        if "uncut_replicas" in tagged and tagged["uncut_replicas"]:
            body_1: list[wire.Chunk] = []
            body_1.append(wire.compact_count(tagged["uncut_replicas"]))
            for uncut_replica in tagged["uncut_replicas"]:
                uncut_replica._write(body_1.append, version)
            tags.append(wire.tag(1, b"".join(body_1)))
        if "stop_offset" in tagged and tagged["stop_offset"] != -1:
            tags.append(wire.tag(2, wire.pack_int64(tagged["stop_offset"])))
        if "stop_epoch" in tagged and tagged["stop_epoch"] != -1:
            tags.append(wire.tag(3, wire.pack_int32(tagged["stop_epoch"])))
        if "committed_producers" in tagged and tagged["committed_producers"]:
            body_4: list[wire.Chunk] = []
            body_4.append(wire.compact_count(tagged["committed_producers"]))
            body_4.append(wire.numbers(tagged["committed_producers"], "q"))
            tags.append(wire.tag(4, b"".join(body_4)))
        if "lineage" in tagged and tagged["lineage"]:
            body_5: list[wire.Chunk] = []
            body_5.append(wire.compact_count(tagged["lineage"]))
            for stretch in tagged["lineage"]:
                stretch._write(body_5.append, version)
            tags.append(wire.tag(5, b"".join(body_5)))
        if "lineage_epoch" in tagged and tagged["lineage_epoch"] != -1:
            tags.append(wire.tag(6, wire.pack_int32(tagged["lineage_epoch"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 7)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.last_mirror_epoch, self.state = unpack_iib(buf, pos)
        pos += 9
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["leader_epoch"],) = wire.unpack_int32(buf, pos)
                pos += 4
            elif tag == 1:
                n, pos = wire.read_compact_count(buf, pos, 9)
                tagged["uncut_replicas"], pos = wire.read_structs(UncutReplica._read, buf, pos, n, version)
            elif tag == 2:
                (tagged["stop_offset"],) = wire.unpack_int64(buf, pos)
                pos += 8
            elif tag == 3:
                (tagged["stop_epoch"],) = wire.unpack_int32(buf, pos)
                pos += 4
            elif tag == 4:
                n, pos = wire.read_compact_count(buf, pos, 8)
                tagged["committed_producers"], pos = wire.read_numbers(buf, pos, n, "q", 8)
            elif tag == 5:
                n, pos = wire.read_compact_count(buf, pos, 6)
                tagged["lineage"], pos = wire.read_structs(Stretch._read, buf, pos, n, version)
            elif tag == 6:
                (tagged["lineage_epoch"],) = wire.unpack_int32(buf, pos)
                pos += 4
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class TopicData(Struct):
    """Part of WriteMirrorStatesRequest."""

    __slots__ = ("name", "partitions")

    topic_id = Tagged[Uuid]("topic_id", Uuid.ZERO)

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
        Field("Partitions", "partitions", "struct", (0, 0), is_array=True, default=[], struct=PartitionData),
        Field("TopicId", "topic_id", "uuid", (0, 0), tagged=(0, 0), tag=0, default=Uuid.ZERO),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # One entry for each partition.
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        # Id of the topic: guards against a topic of the same name that was created again.
        topic_id: Uuid = Uuid.ZERO,  # uuid, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if topic_id is not Uuid.ZERO:
            self.topic_id = topic_id
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

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "topic_id" in tagged and tagged["topic_id"] != Uuid.ZERO:
            tags.append(wire.tag(0, wire.uuid(tagged["topic_id"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 10)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["topic_id"], pos = wire.read_uuid(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class WriteMirrorStatesRequest(Message):
    """Asks the mirror coordinator to persist states."""

    __slots__ = ("mirror_name", "topics", "removed_topics")

    NAME = "WriteMirrorStatesRequest"
    TYPE = "request"
    API_KEY = 101
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicData),
        Field("RemovedTopics", "removed_topics", "string", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        # What to persist.
        topics: list[TopicData] = UNSET,  # []TopicData
        # Names of topics that left the mirror.
        removed_topics: list[str] = UNSET,  # []string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_name = mirror_name
        self.topics = [] if topics is UNSET else topics
        self.removed_topics = [] if removed_topics is UNSET else removed_topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        put(wire.compact_count(self.removed_topics))
        for text in self.removed_topics:
            put(wire.compact_string(text))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteMirrorStatesRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.removed_topics, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
