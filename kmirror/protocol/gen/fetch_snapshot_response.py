"""FetchSnapshotResponse: response, key 59, versions 0-1, flexible from 0.

Generated from schemas/kafka/FetchSnapshotResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ih, pack_ih = wire.fused("ih")
unpack_ii, pack_ii = wire.fused("ii")
unpack_qi, pack_qi = wire.fused("qi")
unpack_qq, pack_qq = wire.fused("qq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class SnapshotId(Struct):
    """Part of FetchSnapshotResponse."""

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
class LeaderIdAndEpoch(Struct):
    """Part of FetchSnapshotResponse."""

    leader_id: int = 0  # int32, brokerId
    leader_epoch: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("LeaderId", "leader_id", "int32", (0, 1), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.leader_id, self.leader_epoch))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaderIdAndEpoch, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.leader_id, self.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionSnapshot(Struct):
    """Part of FetchSnapshotResponse."""

    index: int = 0  # int32
    error_code: int = 0  # int16
    snapshot_id: SnapshotId = field(default_factory=SnapshotId)  # SnapshotId
    current_leader: LeaderIdAndEpoch = field(default_factory=LeaderIdAndEpoch)  # LeaderIdAndEpoch, tag 0
    size: int = 0  # int64
    position: int = 0  # int64
    unaligned_records: bytes | memoryview | None = None  # records

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Index", "index", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("SnapshotId", "snapshot_id", "struct", (0, 1), default={}, struct=SnapshotId),
        Field(
            "CurrentLeader",
            "current_leader",
            "struct",
            (0, 1),
            tagged=(0, 1),
            tag=0,
            default={},
            struct=LeaderIdAndEpoch,
        ),
        Field("Size", "size", "int64", (0, 1), default=0),
        Field("Position", "position", "int64", (0, 1), default=0),
        Field("UnalignedRecords", "unaligned_records", "records", (0, 1)),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.index, self.error_code))
        self.snapshot_id._write(put, version)
        put(pack_qq(self.size, self.position))
        wire.put_compact_bytes(put, self.unaligned_records)
        tags: list[tuple[int, bytes]] = []
        if self.current_leader != LeaderIdAndEpoch():
            body_0: list[wire.Chunk] = []
            self.current_leader._write(body_0.append, version)
            tags.append((0, b"".join(body_0)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionSnapshot, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.snapshot_id, pos = SnapshotId._read(buf, pos, version)
        self.size, self.position = unpack_qq(buf, pos)
        pos += 16
        self.unaligned_records, pos = wire.read_compact_records(buf, pos)
        self.current_leader = LeaderIdAndEpoch()
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                self.current_leader, pos = LeaderIdAndEpoch._read(buf, pos, version)
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicSnapshot(Struct):
    """Part of FetchSnapshotResponse."""

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
        n, pos = wire.read_compact_count(buf, pos, 37)
        self.partitions, pos = wire.read_structs(PartitionSnapshot._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class NodeEndpoint(Struct):
    """Part of FetchSnapshotResponse, v1+."""

    node_id: int = 0  # int32, brokerId
    host: str = ""  # string
    port: int = 0  # uint16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("NodeId", "node_id", "int32", (1, 1), default=0, entity="brokerId", map_key=True),
        Field("Host", "host", "string", (1, 1), default=""),
        Field("Port", "port", "uint16", (1, 1), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.node_id))
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[NodeEndpoint, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.node_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class FetchSnapshotResponse(Message):
    """FetchSnapshotResponse, versions 0-1."""

    throttle_time_ms: int = 0  # int32, ignorable
    error_code: int = 0  # int16
    topics: list[TopicSnapshot] = field(default_factory=list)  # []TopicSnapshot
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)  # []NodeEndpoint, v1+, tag 0

    NAME: ClassVar[str] = "FetchSnapshotResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 59
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    HAS_RECORDS: ClassVar[bool] = True
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 1), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=TopicSnapshot),
        Field(
            "NodeEndpoints",
            "node_endpoints",
            "struct",
            (1, 1),
            is_array=True,
            tagged=(1, 1),
            tag=0,
            default=[],
            struct=NodeEndpoint,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_count(self.topics))
        for topic_snapshot in self.topics:
            topic_snapshot._write(put, version)
        if version < 1 and self.node_endpoints:
            raise wire.Unwritable
        tags: list[tuple[int, bytes]] = []
        if version >= 1 and self.node_endpoints:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(self.node_endpoints))
            for node_endpoint in self.node_endpoints:
                node_endpoint._write(body_0.append, version)
            tags.append((0, b"".join(body_0)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchSnapshotResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicSnapshot._read, buf, pos, n, version)
        self.node_endpoints = []
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 1:
                    raise wire.Malformed
                n, pos = wire.read_compact_count(buf, pos, 8)
                self.node_endpoints, pos = wire.read_structs(NodeEndpoint._read, buf, pos, n, version)
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos
