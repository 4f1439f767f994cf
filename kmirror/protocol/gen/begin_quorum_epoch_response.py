"""BeginQuorumEpochResponse: response, key 53, versions 0-1, flexible from 1.

Generated from schemas/kafka/BeginQuorumEpochResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ihii, pack_ihii = wire.fused("ihii")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionData(Struct):
    """Part of BeginQuorumEpochResponse."""

    partition_index: int = 0  # int32
    error_code: int = 0  # int16
    leader_id: int = 0  # int32, brokerId
    leader_epoch: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("LeaderId", "leader_id", "int32", (0, 1), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihii(self.partition_index, self.error_code, self.leader_id, self.leader_epoch))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (
            self.partition_index,
            self.error_code,
            self.leader_id,
            self.leader_epoch,
        ) = unpack_ihii(buf, pos)
        pos += 14
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicData(Struct):
    """Part of BeginQuorumEpochResponse."""

    topic_name: str = ""  # string, topicName
    partitions: list[PartitionData] = field(default_factory=list)  # []PartitionData

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicName", "topic_name", "string", (0, 1), default="", entity="topicName"),
        Field("Partitions", "partitions", "struct", (0, 1), is_array=True, default=[], struct=PartitionData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.topic_name))
        put((wire.compact_count if version >= 1 else wire.count)(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 14)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class NodeEndpoint(Struct):
    """Part of BeginQuorumEpochResponse, v1+."""

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
class BeginQuorumEpochResponse(Message):
    """BeginQuorumEpochResponse, versions 0-1."""

    error_code: int = 0  # int16
    topics: list[TopicData] = field(default_factory=list)  # []TopicData
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)  # []NodeEndpoint, v1+, tag 0

    NAME: ClassVar[str] = "BeginQuorumEpochResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 53
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=TopicData),
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
        put(wire.pack_int16(self.error_code))
        put((wire.compact_count if version >= 1 else wire.count)(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if version < 1 and self.node_endpoints:
            raise wire.Unwritable
        if version >= 1:
            tags: list[tuple[int, bytes]] = []
            if self.node_endpoints:
                body_0: list[wire.Chunk] = []
                body_0.append(wire.compact_count(self.node_endpoints))
                for node_endpoint in self.node_endpoints:
                    node_endpoint._write(body_0.append, version)
                tags.append((0, b"".join(body_0)))
            wire.put_tags(put, tags, self.unknown_tags, 1)
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BeginQuorumEpochResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        self.node_endpoints = []
        if version >= 1:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_count(buf, pos, 8)
                self.node_endpoints, pos = wire.read_structs(NodeEndpoint._read, buf, pos, n, version)
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos
