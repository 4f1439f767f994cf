"""FetchSnapshotResponse: response, key 59, versions 0-1, flexible from 0.

Generated from schemas/kafka/FetchSnapshotResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")
unpack_ii, pack_ii = wire.fused("ii")
unpack_qi, pack_qi = wire.fused("qi")
unpack_qq, pack_qq = wire.fused("qq")


class SnapshotId(Struct):
    """Part of FetchSnapshotResponse."""

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


class LeaderIdAndEpoch(Struct):
    """Part of FetchSnapshotResponse."""

    __slots__ = ("leader_id", "leader_epoch")

    FIELDS = (
        Field("LeaderId", "leader_id", "int32", (0, 1), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
    )

    def __init__(
        self,
        leader_id: int = 0,  # int32, brokerId
        leader_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.leader_id, self.leader_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaderIdAndEpoch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.leader_id, self.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionSnapshot(Struct):
    """Part of FetchSnapshotResponse."""

    __slots__ = ("index", "error_code", "snapshot_id", "size", "position", "unaligned_records")

    current_leader = Tagged[LeaderIdAndEpoch]("current_leader", LeaderIdAndEpoch)

    FIELDS = (
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

    def __init__(
        self,
        index: int = 0,  # int32
        error_code: int = 0,  # int16
        snapshot_id: SnapshotId = UNSET,  # SnapshotId
        current_leader: LeaderIdAndEpoch = UNSET,  # LeaderIdAndEpoch, tag 0
        size: int = 0,  # int64
        position: int = 0,  # int64
        unaligned_records: bytes | memoryview | None = None,  # records
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.index = index
        self.error_code = error_code
        self.snapshot_id = SnapshotId() if snapshot_id is UNSET else snapshot_id
        self.size = size
        self.position = position
        self.unaligned_records = unaligned_records
        if current_leader is not UNSET:
            self.current_leader = current_leader
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.index, self.error_code))
        self.snapshot_id._write(put, version)
        put(pack_qq(self.size, self.position))
        wire.put_compact_bytes(put, self.unaligned_records)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "current_leader" in tagged and (tagged["current_leader"].leader_id or tagged["current_leader"].leader_epoch or tagged["current_leader"].unknown_tags):
            body_0: list[wire.Chunk] = []
            tagged["current_leader"]._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionSnapshot, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.snapshot_id, pos = SnapshotId._read(buf, pos, version)
        self.size, self.position = unpack_qq(buf, pos)
        pos += 16
        self.unaligned_records, pos = wire.read_compact_records(buf, pos)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["current_leader"], pos = LeaderIdAndEpoch._read(buf, pos, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class TopicSnapshot(Struct):
    """Part of FetchSnapshotResponse."""

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
        n, pos = wire.read_compact_count(buf, pos, 37)
        self.partitions, pos = wire.read_structs(PartitionSnapshot._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class NodeEndpoint(Struct):
    """Part of FetchSnapshotResponse, v1+."""

    __slots__ = ("node_id", "host", "port")

    FIELDS = (
        Field("NodeId", "node_id", "int32", (1, 1), default=0, entity="brokerId", map_key=True),
        Field("Host", "host", "string", (1, 1), default=""),
        Field("Port", "port", "uint16", (1, 1), default=0),
    )

    def __init__(
        self,
        node_id: int = 0,  # int32, brokerId
        host: str = "",  # string
        port: int = 0,  # uint16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.node_id = node_id
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.node_id))
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[NodeEndpoint, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.node_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class FetchSnapshotResponse(Message):
    """FetchSnapshotResponse, versions 0-1."""

    __slots__ = ("throttle_time_ms", "error_code", "topics")

    node_endpoints = Tagged[list[NodeEndpoint]]("node_endpoints", list)

    NAME = "FetchSnapshotResponse"
    TYPE = "response"
    API_KEY = 59
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    HAS_RECORDS = True
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32, ignorable
        error_code: int = 0,  # int16
        topics: list[TopicSnapshot] = UNSET,  # []TopicSnapshot
        node_endpoints: list[NodeEndpoint] = UNSET,  # []NodeEndpoint, v1+, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.topics = [] if topics is UNSET else topics
        if node_endpoints is not UNSET:
            self.node_endpoints = node_endpoints
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_count(self.topics))
        for topic_snapshot in self.topics:
            topic_snapshot._write(put, version)
        if version < 1 and self._tagged and self.node_endpoints:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if version >= 1 and "node_endpoints" in tagged and tagged["node_endpoints"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["node_endpoints"]))
            for node_endpoint in tagged["node_endpoints"]:
                node_endpoint._write(body_0.append, version)
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FetchSnapshotResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
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
                if version < 1:
                    raise wire.Malformed
                n, pos = wire.read_compact_count(buf, pos, 8)
                tagged["node_endpoints"], pos = wire.read_structs(NodeEndpoint._read, buf, pos, n, version)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
