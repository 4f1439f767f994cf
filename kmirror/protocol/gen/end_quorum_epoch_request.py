"""EndQuorumEpochRequest: request, key 54, versions 0-1, flexible from 1.

Generated from schemas/kafka/EndQuorumEpochRequest.json.
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

unpack_iii, pack_iii = wire.fused("iii")


class ReplicaInfo(Struct):
    """Part of EndQuorumEpochRequest, v1+."""

    __slots__ = ("candidate_id", "candidate_directory_id")

    FIELDS = (
        Field("CandidateId", "candidate_id", "int32", (1, 1), default=0, entity="brokerId"),
        Field("CandidateDirectoryId", "candidate_directory_id", "uuid", (1, 1), default=Uuid.ZERO),
    )

    def __init__(
        self,
        candidate_id: int = 0,  # int32, brokerId
        candidate_directory_id: Uuid = Uuid.ZERO,  # uuid
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.candidate_id = candidate_id
        self.candidate_directory_id = candidate_directory_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.candidate_id))
        put(wire.uuid(self.candidate_directory_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReplicaInfo, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.candidate_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.candidate_directory_id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionData(Struct):
    """Part of EndQuorumEpochRequest."""

    __slots__ = (
        "partition_index",
        "leader_id",
        "leader_epoch",
        "preferred_successors",
        "preferred_candidates",
    )

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 1), default=0),
        Field("LeaderId", "leader_id", "int32", (0, 1), default=0, entity="brokerId"),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
        Field(
            "PreferredSuccessors",
            "preferred_successors",
            "int32",
            (0, 0),
            is_array=True,
            default=[],
            ignorable=True,
        ),
        Field(
            "PreferredCandidates",
            "preferred_candidates",
            "struct",
            (1, 1),
            is_array=True,
            default=[],
            ignorable=True,
            struct=ReplicaInfo,
        ),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        leader_id: int = 0,  # int32, brokerId
        leader_epoch: int = 0,  # int32
        preferred_successors: list[int] = UNSET,  # []int32, v0, ignorable
        preferred_candidates: list[ReplicaInfo] = UNSET,  # []ReplicaInfo, v1+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.leader_id = leader_id
        self.leader_epoch = leader_epoch
        self.preferred_successors = [] if preferred_successors is UNSET else preferred_successors
        self.preferred_candidates = [] if preferred_candidates is UNSET else preferred_candidates
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iii(self.partition_index, self.leader_id, self.leader_epoch))
        if version <= 0:
            put(wire.count(self.preferred_successors))
            put(wire.numbers(self.preferred_successors, "i"))
        if version >= 1:
            put(wire.compact_count(self.preferred_candidates))
            for replica_info in self.preferred_candidates:
                replica_info._write(put, version)
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
        self.partition_index, self.leader_id, self.leader_epoch = unpack_iii(buf, pos)
        pos += 12
        if version <= 0:
            n, pos = wire.read_count(buf, pos, 4)
            self.preferred_successors, pos = wire.read_numbers(buf, pos, n, "i", 4)
        else:
            self.preferred_successors = []
        if version >= 1:
            n, pos = wire.read_compact_count(buf, pos, 21)
            self.preferred_candidates, pos = wire.read_structs(ReplicaInfo._read, buf, pos, n, version)
        else:
            self.preferred_candidates = []
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TopicData(Struct):
    """Part of EndQuorumEpochRequest."""

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
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 14)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class LeaderEndpoint(Struct):
    """Part of EndQuorumEpochRequest, v1+."""

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


class EndQuorumEpochRequest(Message):
    """EndQuorumEpochRequest, versions 0-1."""

    __slots__ = ("cluster_id", "topics", "leader_endpoints")

    NAME = "EndQuorumEpochRequest"
    TYPE = "request"
    API_KEY = 54
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("ClusterId", "cluster_id", "string", (0, 1), nullable=(0, 1)),
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
        topics: list[TopicData] = UNSET,  # []TopicData
        leader_endpoints: list[LeaderEndpoint] = UNSET,  # []LeaderEndpoint, v1+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.cluster_id = cluster_id
        self.topics = [] if topics is UNSET else topics
        self.leader_endpoints = [] if leader_endpoints is UNSET else leader_endpoints
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.cluster_id))
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndQuorumEpochRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.cluster_id, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
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
