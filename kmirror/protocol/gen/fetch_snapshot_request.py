"""FetchSnapshotRequest: request, key 59, versions 0-1, flexible from 0.

Generated from schemas/kafka/FetchSnapshotRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_ii, pack_ii = wire.fused("ii")
unpack_qi, pack_qi = wire.fused("qi")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class SnapshotId(Struct):
    """Part of FetchSnapshotRequest."""

    end_offset: int = 0  # int64
    epoch: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("EndOffset", "end_offset", "int64", (0, 1), default=0),
        Field("Epoch", "epoch", "int32", (0, 1), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qi(self.end_offset, self.epoch))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SnapshotId, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.end_offset, self.epoch = unpack_qi(buf, pos)
        pos += 12
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionSnapshot(Struct):
    """Part of FetchSnapshotRequest."""

    partition: int = 0  # int32
    current_leader_epoch: int = 0  # int32
    snapshot_id: SnapshotId = field(default_factory=SnapshotId)  # SnapshotId
    position: int = 0  # int64
    replica_directory_id: Uuid = Uuid.ZERO  # uuid, v1+, tag 0, ignorable

    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.partition, self.current_leader_epoch))
        self.snapshot_id._write(put, version)
        put(wire.pack_int64(self.position))
        tags: list[tuple[int, bytes]] = []
        if version >= 1 and self.replica_directory_id != Uuid.ZERO:
            tags.append((0, wire.uuid(self.replica_directory_id)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionSnapshot, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition, self.current_leader_epoch = unpack_ii(buf, pos)
        pos += 8
        self.snapshot_id, pos = SnapshotId._read(buf, pos, version)
        (self.position,) = wire.unpack_int64(buf, pos)
        pos += 8
        self.replica_directory_id = Uuid.ZERO
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 1:
                    raise wire.Malformed
                self.replica_directory_id, pos = wire.read_uuid(buf, pos)
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicSnapshot(Struct):
    """Part of FetchSnapshotRequest."""

    name: str = ""  # string, topicName
    partitions: list[PartitionSnapshot] = field(default_factory=list)  # []PartitionSnapshot

    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for partition_snapshot in self.partitions:
            partition_snapshot._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicSnapshot, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 30)
        self.partitions, pos = wire.read_structs(PartitionSnapshot._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class FetchSnapshotRequest(Message):
    """FetchSnapshotRequest, versions 0-1."""

    cluster_id: str | None = None  # string, tag 0
    replica_id: int = -1  # int32, brokerId
    max_bytes: int = 2147483647  # int32
    topics: list[TopicSnapshot] = field(default_factory=list)  # []TopicSnapshot

    NAME: ClassVar[str] = "FetchSnapshotRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 59
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ClusterId", "cluster_id", "string", (0, 1), nullable=(0, 1), tagged=(0, 1), tag=0),
        Field("ReplicaId", "replica_id", "int32", (0, 1), default=-1, entity="brokerId"),
        Field("MaxBytes", "max_bytes", "int32", (0, 1), default=2147483647),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=TopicSnapshot),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.replica_id, self.max_bytes))
        put(wire.compact_count(self.topics))
        for topic_snapshot in self.topics:
            topic_snapshot._write(put, version)
        tags: list[tuple[int, bytes]] = []
        if self.cluster_id is not None:
            tags.append((0, wire.compact_nullable_string(self.cluster_id)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchSnapshotRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.replica_id, self.max_bytes = unpack_ii(buf, pos)
        pos += 8
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicSnapshot._read, buf, pos, n, version)
        self.cluster_id = None
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                self.cluster_id, pos = wire.read_compact_nullable_string(buf, pos)
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos
