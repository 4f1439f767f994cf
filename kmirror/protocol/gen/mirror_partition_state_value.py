"""MirrorPartitionStateValue: coordinator-value, key 2, versions 0, flexible from 0.

Generated from schemas/mirroring/MirrorPartitionStateValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_ib, pack_ib = wire.fused("ib")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class MirrorPartitionStateValue(Message):
    """Where a mirrored partition stands."""

    # Name of the topic.
    topic_name: str = ""  # string
    # Partition.
    partition: int = 0  # int32
    # Byte of the mirror state.
    state: int = 0  # int8
    # Leader epoch of the mirrored partition at the time of the write: an older one is fenced.
    leader_epoch: int = -1  # int32, tag 0

    NAME: ClassVar[str] = "MirrorPartitionStateValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 2
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
        Field("Partition", "partition", "int32", (0, 0), default=0),
        Field("State", "state", "int8", (0, 0), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 0), tagged=(0, 0), tag=0, default=-1),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(pack_ib(self.partition, self.state))
        tags: list[tuple[int, bytes]] = []
        if self.leader_epoch != -1:
            tags.append((0, wire.pack_int32(self.leader_epoch)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MirrorPartitionStateValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        self.partition, self.state = unpack_ib(buf, pos)
        pos += 5
        self.leader_epoch = -1
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (self.leader_epoch,) = wire.unpack_int32(buf, pos)
                pos += 4
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos
