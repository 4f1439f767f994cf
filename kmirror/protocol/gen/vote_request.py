"""VoteRequest: request, key 52, versions 0-2, flexible from 0.

Generated from schemas/kafka/VoteRequest.json.
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
unpack_iq, pack_iq = wire.fused("iq")


class PartitionData(Struct):
    """Part of VoteRequest."""

    __slots__ = (
        "partition_index",
        "replica_epoch",
        "replica_id",
        "replica_directory_id",
        "voter_directory_id",
        "last_offset_epoch",
        "last_offset",
        "pre_vote",
    )

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 2), default=0),
        Field("ReplicaEpoch", "replica_epoch", "int32", (0, 2), default=0),
        Field("ReplicaId", "replica_id", "int32", (0, 2), default=0, entity="brokerId"),
        Field(
            "ReplicaDirectoryId",
            "replica_directory_id",
            "uuid",
            (1, 2),
            default=Uuid.ZERO,
            ignorable=True,
        ),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (1, 2), default=Uuid.ZERO, ignorable=True),
        Field("LastOffsetEpoch", "last_offset_epoch", "int32", (0, 2), default=0),
        Field("LastOffset", "last_offset", "int64", (0, 2), default=0),
        Field("PreVote", "pre_vote", "bool", (2, 2), default=False),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        replica_epoch: int = 0,  # int32
        replica_id: int = 0,  # int32, brokerId
        replica_directory_id: Uuid = Uuid.ZERO,  # uuid, v1+, ignorable
        voter_directory_id: Uuid = Uuid.ZERO,  # uuid, v1+, ignorable
        last_offset_epoch: int = 0,  # int32
        last_offset: int = 0,  # int64
        pre_vote: bool = False,  # bool, v2+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.replica_epoch = replica_epoch
        self.replica_id = replica_id
        self.replica_directory_id = replica_directory_id
        self.voter_directory_id = voter_directory_id
        self.last_offset_epoch = last_offset_epoch
        self.last_offset = last_offset
        self.pre_vote = pre_vote
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iii(self.partition_index, self.replica_epoch, self.replica_id))
        if version >= 1:
            put(wire.uuid(self.replica_directory_id))
        if version >= 1:
            put(wire.uuid(self.voter_directory_id))
        put(pack_iq(self.last_offset_epoch, self.last_offset))
        if version >= 2:
            put(wire.pack_bool(self.pre_vote))
        elif self.pre_vote:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.replica_epoch, self.replica_id = unpack_iii(buf, pos)
        pos += 12
        if version >= 1:
            self.replica_directory_id, pos = wire.read_uuid(buf, pos)
        else:
            self.replica_directory_id = Uuid.ZERO
        if version >= 1:
            self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        else:
            self.voter_directory_id = Uuid.ZERO
        self.last_offset_epoch, self.last_offset = unpack_iq(buf, pos)
        pos += 12
        if version >= 2:
            (self.pre_vote,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.pre_vote = False
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicData(Struct):
    """Part of VoteRequest."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 2), default="", entity="topicName"),
        Field("Partitions", "partitions", "struct", (0, 2), is_array=True, default=[], struct=PartitionData),
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
        put(wire.compact_string(self.topic_name))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 25)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class VoteRequest(Message):
    """VoteRequest, versions 0-2."""

    __slots__ = ("cluster_id", "voter_id", "topics")

    NAME = "VoteRequest"
    TYPE = "request"
    API_KEY = 52
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ClusterId", "cluster_id", "string", (0, 2), nullable=(0, 2)),
        Field("VoterId", "voter_id", "int32", (1, 2), default=-1, ignorable=True, entity="brokerId"),
        Field("Topics", "topics", "struct", (0, 2), is_array=True, default=[], struct=TopicData),
    )

    def __init__(
        self,
        cluster_id: str | None = None,  # string
        voter_id: int = -1,  # int32, v1+, ignorable, brokerId
        topics: list[TopicData] = UNSET,  # []TopicData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.cluster_id = cluster_id
        self.voter_id = voter_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.cluster_id))
        if version >= 1:
            put(wire.pack_int32(self.voter_id))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[VoteRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.cluster_id, pos = wire.read_compact_nullable_string(buf, pos)
        if version >= 1:
            (self.voter_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.voter_id = -1
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
