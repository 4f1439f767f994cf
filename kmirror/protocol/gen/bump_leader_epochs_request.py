"""BumpLeaderEpochsRequest: request, key 105, versions 0, flexible from 0.

Generated from schemas/mirroring/BumpLeaderEpochsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_ii, pack_ii = wire.fused("ii")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class LeaderEpochState(Struct):
    """Part of BumpLeaderEpochsRequest."""

    # Partition.
    partition_index: int = 0  # int32
    # The leader epoch must end at this or above.
    min_leader_epoch: int = -1  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("partitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("minLeaderEpoch", "min_leader_epoch", "int32", (0, 0), default=-1),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ii(self.partition_index, self.min_leader_epoch))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LeaderEpochState, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.min_leader_epoch = unpack_ii(buf, pos)
        pos += 8
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicState(Struct):
    """Part of BumpLeaderEpochsRequest."""

    # Id of the topic.
    topic_id: Uuid = Uuid.ZERO  # uuid
    # Which partitions.
    partitions: list[LeaderEpochState] = field(default_factory=list)  # []LeaderEpochState

    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for leader_epoch_state in self.partitions:
            leader_epoch_state._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicState, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.partitions, pos = wire.read_structs(LeaderEpochState._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class BumpLeaderEpochsRequest(Message):
    """Asks the controller to raise leader epochs to those of the source or above."""

    # Which topics.
    topics: list[TopicState] = field(default_factory=list)  # []TopicState

    NAME: ClassVar[str] = "BumpLeaderEpochsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 105
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicState),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for topic_state in self.topics:
            topic_state._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BumpLeaderEpochsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(TopicState._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
