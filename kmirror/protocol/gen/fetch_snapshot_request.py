"""FetchSnapshotRequest: request, key 59, versions 0-1, flexible from 0.

Generated from schemas/kafka/FetchSnapshotRequest.json.
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
unpack_qi, pack_qi = wire.fused("qi")


class SnapshotId(Struct):
    """Part of FetchSnapshotRequest."""

    __slots__ = ("end_offset", "epoch")

    FIELDS = (
        Field("EndOffset", "end_offset", "int64", (0, 1), default=0),
        Field("Epoch", "epoch", "int32", (0, 1), default=0),
    )

    def __init__(
        self,
        end_offset: int = 0,  # int64
        epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.end_offset = end_offset
        self.epoch = epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qi(self.end_offset, self.epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SnapshotId, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.end_offset, self.epoch = unpack_qi(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionSnapshot(Struct):
    """Part of FetchSnapshotRequest."""

    __slots__ = ("partition", "current_leader_epoch", "snapshot_id", "position")

    replica_directory_id = Tagged[Uuid]("replica_directory_id", Uuid.ZERO)

    FIELDS = (
        Field("Partition", "partition", "int32", (0, 1), default=0),
        Field("CurrentLeaderEpoch", "current_leader_epoch", "int32", (0, 1), default=0),
        Field("SnapshotId", "snapshot_id", "struct", (0, 1), default={}, struct=SnapshotId),
        Field("Position", "position", "int64", (0, 1), default=0),
        Field(
            "ReplicaDirectoryId",
            "replica_directory_id",
            "uuid",
            (1, 1),
            tagged=(1, 1),
            tag=0,
            default=Uuid.ZERO,
            ignorable=True,
        ),
    )

    def __init__(
        self,
        partition: int = 0,  # int32
        current_leader_epoch: int = 0,  # int32
        snapshot_id: SnapshotId = UNSET,  # SnapshotId
        position: int = 0,  # int64
        replica_directory_id: Uuid = Uuid.ZERO,  # uuid, v1+, tag 0, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.snapshot_id = SnapshotId() if snapshot_id is UNSET else snapshot_id
        self.position = position
        if replica_directory_id is not Uuid.ZERO:
            self.replica_directory_id = replica_directory_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.partition, self.current_leader_epoch))
        self.snapshot_id._write(put, version)
        put(wire.pack_int64(self.position))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if version >= 1 and "replica_directory_id" in tagged and tagged["replica_directory_id"] != Uuid.ZERO:
            tags.append(wire.tag(0, wire.uuid(tagged["replica_directory_id"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionSnapshot, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition, self.current_leader_epoch = unpack_ii(buf, pos)
        pos += 8
        self.snapshot_id, pos = SnapshotId._read(buf, pos, version)
        (self.position,) = wire.unpack_int64(buf, pos)
        pos += 8
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 1:
                    raise wire.Malformed
                tagged["replica_directory_id"], pos = wire.read_uuid(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class TopicSnapshot(Struct):
    """Part of FetchSnapshotRequest."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 1), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=PartitionSnapshot,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[PartitionSnapshot] = UNSET,  # []PartitionSnapshot
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
        for partition_snapshot in self.partitions:
            partition_snapshot._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicSnapshot, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 30)
        self.partitions, pos = wire.read_structs(PartitionSnapshot._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class FetchSnapshotRequest(Message):
    """FetchSnapshotRequest, versions 0-1."""

    __slots__ = ("replica_id", "max_bytes", "topics")

    cluster_id = Tagged[str | None]("cluster_id", None)

    NAME = "FetchSnapshotRequest"
    TYPE = "request"
    API_KEY = 59
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ClusterId", "cluster_id", "string", (0, 1), nullable=(0, 1), tagged=(0, 1), tag=0),
        Field("ReplicaId", "replica_id", "int32", (0, 1), default=-1, entity="brokerId"),
        Field("MaxBytes", "max_bytes", "int32", (0, 1), default=2147483647),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=TopicSnapshot),
    )

    def __init__(
        self,
        cluster_id: str | None = None,  # string, tag 0
        replica_id: int = -1,  # int32, brokerId
        max_bytes: int = 2147483647,  # int32
        topics: list[TopicSnapshot] = UNSET,  # []TopicSnapshot
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.replica_id = replica_id
        self.max_bytes = max_bytes
        self.topics = [] if topics is UNSET else topics
        if cluster_id is not None:
            self.cluster_id = cluster_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.replica_id, self.max_bytes))
        put(wire.compact_count(self.topics))
        for topic_snapshot in self.topics:
            topic_snapshot._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "cluster_id" in tagged and tagged["cluster_id"] is not None:
            tags.append(wire.tag(0, wire.compact_nullable_string(tagged["cluster_id"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchSnapshotRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.replica_id, self.max_bytes = unpack_ii(buf, pos)
        pos += 8
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicSnapshot._read, buf, pos, n, version)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["cluster_id"], pos = wire.read_compact_nullable_string(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
