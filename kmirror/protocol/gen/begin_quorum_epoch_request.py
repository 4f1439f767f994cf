"""BeginQuorumEpochRequest: request, key 53, versions 0-1, flexible from 1.

Generated from schemas/kafka/BeginQuorumEpochRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_ii, pack_ii = wire.fused("ii")


class PartitionData(Struct):
    """Part of BeginQuorumEpochRequest."""

    __slots__ = ("partition_index", "voter_directory_id", "leader_id", "leader_epoch")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 1), default=0),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (1, 1), default=Uuid.ZERO, ignorable=True),
        Field("LeaderId", "leader_id", "int32", (0, 1), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        voter_directory_id: Uuid = Uuid.ZERO,  # uuid, v1+, ignorable
        leader_id: int = 0,  # int32, brokerId
        leader_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.voter_directory_id = voter_directory_id
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        if version >= 1:
            put(wire.uuid(self.voter_directory_id))
        put(pack_ii(self.leader_id, self.leader_epoch))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 1:
            self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        else:
            self.voter_directory_id = Uuid.ZERO
        self.leader_id, self.leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TopicData(Struct):
    """Part of BeginQuorumEpochRequest."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 1), default="", entity="topicName"),
        Field("Partitions", "partitions", "struct", (0, 1), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.topic_name))
        put((wire.compact_count if version >= 1 else wire.count)(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 12)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class LeaderEndpoint(Struct):
    """Part of BeginQuorumEpochRequest, v1+."""

    __slots__ = ("name", "host", "port")

    FIELDS = (
        Field("Name", "name", "string", (1, 1), default="", map_key=True),
        Field("Host", "host", "string", (1, 1), default=""),
        Field("Port", "port", "uint16", (1, 1), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        host: str = "",  # string
        port: int = 0,  # uint16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaderEndpoint, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class BeginQuorumEpochRequest(Message):
    """BeginQuorumEpochRequest, versions 0-1."""

    __slots__ = ("cluster_id", "voter_id", "topics", "leader_endpoints")

    NAME = "BeginQuorumEpochRequest"
    TYPE = "request"
    API_KEY = 53
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("ClusterId", "cluster_id", "string", (0, 1), nullable=(0, 1)),
        Field("VoterId", "voter_id", "int32", (1, 1), default=-1, ignorable=True, entity="brokerId"),
        Field("Topics", "topics", "struct", (0, 1), is_array=True, default=[], struct=TopicData),
        Field(
            "LeaderEndpoints",
            "leader_endpoints",
            "struct",
            (1, 1),
            is_array=True,
            default=[],
            ignorable=True,
            struct=LeaderEndpoint,
        ),
    )

    def __init__(
        self,
        cluster_id: str | None = None,  # string
        voter_id: int = -1,  # int32, v1+, ignorable, brokerId
        topics: list[TopicData] = UNSET,  # []TopicData
        leader_endpoints: list[LeaderEndpoint] = UNSET,  # []LeaderEndpoint, v1+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is UNSET else topics
        self.leader_endpoints = [] if leader_endpoints is UNSET else leader_endpoints
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.cluster_id))
        if version >= 1:
            put(wire.pack_int32(self.voter_id))
        put((wire.compact_count if version >= 1 else wire.count)(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if version >= 1:
            put(wire.compact_count(self.leader_endpoints))
            for leader_endpoint in self.leader_endpoints:
                leader_endpoint._write(put, version)
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BeginQuorumEpochRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.cluster_id, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        if version >= 1:
            (self.voter_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.voter_id = -1
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if version >= 1:
            n, pos = wire.read_compact_count(buf, pos, 5)
            self.leader_endpoints, pos = wire.read_structs(LeaderEndpoint._read, buf, pos, n, version)
        else:
            self.leader_endpoints = []
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
