"""ConsumerGroupCurrentMemberAssignmentValue: coordinator-value, key 8, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupCurrentMemberAssignmentValue.json.
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
    """Part of ConsumerGroupCurrentMemberAssignmentValue."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[int] = field(default_factory=list)  # []int32
    assignment_epochs: list[int] | None = field(default_factory=list)  # []int32, tag 0

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
        Field(
            "AssignmentEpochs",
            "assignment_epochs",
            "int32",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            tagged=(0, 0),
            tag=0,
            default=[],
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        tags: list[tuple[int, bytes]] = []
        if (self.assignment_epochs is None or len(self.assignment_epochs)):
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_nullable_count(self.assignment_epochs))
            body_0.append(wire.numbers(self.assignment_epochs or (), "i"))
            tags.append((0, b"".join(body_0)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        self.assignment_epochs = []
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    self.assignment_epochs = None
                else:
                    self.assignment_epochs, pos = wire.read_numbers(buf, pos, n, "i", 4)
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ConsumerGroupCurrentMemberAssignmentValue(Message):
    """ConsumerGroupCurrentMemberAssignmentValue, versions 0."""

    member_epoch: int = 0  # int32
    previous_member_epoch: int = 0  # int32
    state: int = 0  # int8
    assigned_partitions: list[TopicPartitions] = field(default_factory=list)  # []TopicPartitions
    partitions_pending_revocation: list[TopicPartitions] = field(default_factory=list)  # []TopicPartitions

    NAME: ClassVar[str] = "ConsumerGroupCurrentMemberAssignmentValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 8
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
        Field(
            "PartitionsPendingRevocation",
            "partitions_pending_revocation",
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
        put(wire.compact_count(self.partitions_pending_revocation))
        for topic_partitions in self.partitions_pending_revocation:
            topic_partitions._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.member_epoch, self.previous_member_epoch, self.state = unpack_iib(buf, pos)
        pos += 9
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.assigned_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.partitions_pending_revocation, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
