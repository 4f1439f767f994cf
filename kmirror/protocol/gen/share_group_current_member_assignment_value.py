"""ShareGroupCurrentMemberAssignmentValue: coordinator-value, key 14, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareGroupCurrentMemberAssignmentValue.json.
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

unpack_iib, pack_iib = wire.fused("iib")


class TopicPartitions(Struct):
    """Part of ShareGroupCurrentMemberAssignmentValue."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[int] = UNSET,  # []int32
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
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitions, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ShareGroupCurrentMemberAssignmentValue(Message):
    """ShareGroupCurrentMemberAssignmentValue, versions 0."""

    __slots__ = ("member_epoch", "previous_member_epoch", "state", "assigned_partitions")

    NAME = "ShareGroupCurrentMemberAssignmentValue"
    TYPE = "coordinator-value"
    API_KEY = 14
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
    )

    def __init__(
        self,
        member_epoch: int = 0,  # int32
        previous_member_epoch: int = 0,  # int32
        state: int = 0,  # int8
        assigned_partitions: list[TopicPartitions] = UNSET,  # []TopicPartitions
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_epoch = member_epoch
        self.previous_member_epoch = previous_member_epoch
        self.state = state
        self.assigned_partitions = [] if assigned_partitions is UNSET else assigned_partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iib(self.member_epoch, self.previous_member_epoch, self.state))
        put(wire.compact_count(self.assigned_partitions))
        for topic_partitions in self.assigned_partitions:
            topic_partitions._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupCurrentMemberAssignmentValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_epoch, self.previous_member_epoch, self.state = unpack_iib(buf, pos)
        pos += 9
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.assigned_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
