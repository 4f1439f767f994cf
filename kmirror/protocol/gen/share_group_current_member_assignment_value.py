"""ShareGroupCurrentMemberAssignmentValue: coordinator-value, key 14, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareGroupCurrentMemberAssignmentValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_iib, pack_iib = wire.fused("iib")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicPartitions(Struct):
    """Part of ShareGroupCurrentMemberAssignmentValue."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ShareGroupCurrentMemberAssignmentValue(Message):
    """ShareGroupCurrentMemberAssignmentValue, versions 0."""

    member_epoch: int = 0  # int32
    previous_member_epoch: int = 0  # int32
    state: int = 0  # int8
    assigned_partitions: list[TopicPartitions] = field(default_factory=list)  # []TopicPartitions

    NAME: ClassVar[str] = "ShareGroupCurrentMemberAssignmentValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("MemberEpoch", "member_epoch", "int32", (0, 0), default=0),
        Field("PreviousMemberEpoch", "previous_member_epoch", "int32", (0, 0), default=0),
        Field("State", "state", "int8", (0, 0), default=0),
        Field(
            "AssignedPartitions",
            "assigned_partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicPartitions,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iib(self.member_epoch, self.previous_member_epoch, self.state))
        put(wire.compact_count(self.assigned_partitions))
        for topic_partitions in self.assigned_partitions:
            topic_partitions._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.member_epoch, self.previous_member_epoch, self.state = unpack_iib(buf, pos)
        pos += 9
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.assigned_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
