"""BumpLeaderEpochsRequest: request, key 105, versions 0, flexible from 0.

Generated from schemas/mirroring/BumpLeaderEpochsRequest.json.
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


class LeaderEpochState(Struct):
    """Part of BumpLeaderEpochsRequest."""

    __slots__ = ("partition_index", "min_leader_epoch")

    FIELDS = (
        Field("partitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("minLeaderEpoch", "min_leader_epoch", "int32", (0, 0), default=-1),
    )

    def __init__(
        self,
        # Partition.
        partition_index: int = 0,  # int32
        # The leader epoch must end at this or above.
        min_leader_epoch: int = -1,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.min_leader_epoch = min_leader_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.partition_index, self.min_leader_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaderEpochState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.min_leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicState(Struct):
    """Part of BumpLeaderEpochsRequest."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=LeaderEpochState,
        ),
    )

    def __init__(
        self,
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid
        # Which partitions.
        partitions: list[LeaderEpochState] = UNSET,  # []LeaderEpochState
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for leader_epoch_state in self.partitions:
            leader_epoch_state._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.partitions, pos = wire.read_structs(LeaderEpochState._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class BumpLeaderEpochsRequest(Message):
    """Asks the controller to raise leader epochs to those of the source or above."""

    __slots__ = ("topics",)

    NAME = "BumpLeaderEpochsRequest"
    TYPE = "request"
    API_KEY = 105
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicState),
    )

    def __init__(
        self,
        # Which topics.
        topics: list[TopicState] = UNSET,  # []TopicState
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for topic_state in self.topics:
            topic_state._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BumpLeaderEpochsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(TopicState._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
