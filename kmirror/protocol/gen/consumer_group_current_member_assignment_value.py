"""ConsumerGroupCurrentMemberAssignmentValue: coordinator-value, key 8, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupCurrentMemberAssignmentValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_iib, pack_iib = wire.fused("iib")


class TopicPartitions(Struct):
    """Part of ConsumerGroupCurrentMemberAssignmentValue."""

    __slots__ = ("topic_id", "partitions")

    assignment_epochs = Tagged[list[int] | None]("assignment_epochs", list)

    FIELDS = (
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

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[int] = UNSET,  # []int32
        assignment_epochs: list[int] | None = UNSET,  # []int32, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if assignment_epochs is not UNSET:
            self.assignment_epochs = assignment_epochs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "assignment_epochs" in tagged and (tagged["assignment_epochs"] is None or len(tagged["assignment_epochs"])):
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_nullable_count(tagged["assignment_epochs"]))
            body_0.append(wire.numbers(tagged["assignment_epochs"] or (), "i"))
            tags.append(wire.tag(0, b"".join(body_0)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                n, pos = wire.read_compact_nullable_count(buf, pos, 4)
                if n < 0:
                    tagged["assignment_epochs"] = None
                else:
                    tagged["assignment_epochs"], pos = wire.read_numbers(buf, pos, n, "i", 4)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class ConsumerGroupCurrentMemberAssignmentValue(Message):
    """ConsumerGroupCurrentMemberAssignmentValue, versions 0."""

    __slots__ = (
        "member_epoch",
        "previous_member_epoch",
        "state",
        "assigned_partitions",
        "partitions_pending_revocation",
    )

    NAME = "ConsumerGroupCurrentMemberAssignmentValue"
    TYPE = "coordinator-value"
    API_KEY = 8
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        member_epoch: int = 0,  # int32
        previous_member_epoch: int = 0,  # int32
        state: int = 0,  # int8
        assigned_partitions: list[TopicPartitions] = UNSET,  # []TopicPartitions
        partitions_pending_revocation: list[TopicPartitions] = UNSET,  # []TopicPartitions
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = [] if assigned_partitions is UNSET else assigned_partitions
        self.partitions_pending_revocation = [] if partitions_pending_revocation is UNSET else partitions_pending_revocation
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iib(self.member_epoch, self.previous_member_epoch, self.state))
        put(wire.compact_count(self.assigned_partitions))
        for topic_partitions in self.assigned_partitions:
            topic_partitions._write(put, version)
        put(wire.compact_count(self.partitions_pending_revocation))
        for topic_partitions in self.partitions_pending_revocation:
            topic_partitions._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupCurrentMemberAssignmentValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_epoch, self.previous_member_epoch, self.state = unpack_iib(buf, pos)
        pos += 9
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.assigned_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.partitions_pending_revocation, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
