"""OffsetForLeaderEpochRequest: request, key 23, versions 2-4, flexible from 4.

Generated from schemas/kafka/OffsetForLeaderEpochRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_iii, pack_iii = wire.fused("iii")


class OffsetForLeaderPartition(Struct):
    """Part of OffsetForLeaderEpochRequest."""

    __slots__ = ("partition", "current_leader_epoch", "leader_epoch")

    FIELDS = (
        Field("Partition", "partition", "int32", (2, 4), default=0),
        Field("CurrentLeaderEpoch", "current_leader_epoch", "int32", (2, 4), default=-1, ignorable=True),
        Field("LeaderEpoch", "leader_epoch", "int32", (2, 4), default=0),
    )

    def __init__(
        self,
        # Partition.
        partition: int = 0,  # int32
        # Leader epoch as the asker knows it; an older one is fenced.
        current_leader_epoch: int = -1,  # int32, ignorable
        # Leader epoch, -1 if it is not known.
        leader_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.current_leader_epoch = current_leader_epoch
        self.leader_epoch = leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iii(self.partition, self.current_leader_epoch, self.leader_epoch))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetForLeaderPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition, self.current_leader_epoch, self.leader_epoch = unpack_iii(buf, pos)
        pos += 12
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetForLeaderTopic(Struct):
    """Part of OffsetForLeaderEpochRequest."""

    __slots__ = ("topic", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (2, 4), default="", entity="topicName", map_key=True),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (2, 4),
            is_array=True,
            default=[],
            struct=OffsetForLeaderPartition,
        ),
    )

    def __init__(
        self,
        # Name of the topic.
        topic: str = "",  # string, topicName
        # The partitions.
        partitions: list[OffsetForLeaderPartition] = UNSET,  # []OffsetForLeaderPartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic = topic
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.topic))
        put((wire.compact_count if version >= 4 else wire.count)(self.partitions))
        for offset_for_leader_partition in self.partitions:
            offset_for_leader_partition._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetForLeaderTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 12)
        self.partitions, pos = wire.read_structs(OffsetForLeaderPartition._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetForLeaderEpochRequest(Message):
    """Asks where a leader epoch ends in the log, so that a diverging end can be cut off."""

    __slots__ = ("replica_id", "topics")

    NAME = "OffsetForLeaderEpochRequest"
    TYPE = "request"
    API_KEY = 23
    MIN_VERSION = 2
    MAX_VERSION = 4
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("ReplicaId", "replica_id", "int32", (3, 4), default=-2, ignorable=True, entity="brokerId"),
        Field("Topics", "topics", "struct", (2, 4), is_array=True, default=[], struct=OffsetForLeaderTopic),
    )

    def __init__(
        self,
        # Broker id of a follower, -1 for a consumer.
        replica_id: int = -2,  # int32, v3+, ignorable, brokerId
        # The topics.
        topics: list[OffsetForLeaderTopic] = UNSET,  # []OffsetForLeaderTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.replica_id = replica_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 3:
            put(wire.pack_int32(self.replica_id))
        put((wire.compact_count if version >= 4 else wire.count)(self.topics))
        for offset_for_leader_topic in self.topics:
            offset_for_leader_topic._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetForLeaderEpochRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 3:
            (self.replica_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.replica_id = -2
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(OffsetForLeaderTopic._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
