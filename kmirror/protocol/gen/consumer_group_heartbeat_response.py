"""ConsumerGroupHeartbeatResponse: response, key 68, versions 0-1, flexible from 0.

Generated from schemas/kafka/ConsumerGroupHeartbeatResponse.json.
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

unpack_ih, pack_ih = wire.fused("ih")
unpack_ii, pack_ii = wire.fused("ii")


class TopicPartitions(Struct):
    """Part of ConsumerGroupHeartbeatResponse."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field("Partitions", "partitions", "int32", (0, 1), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid
        # The partitions.
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


class Assignment(Struct):
    """Part of ConsumerGroupHeartbeatResponse."""

    __slots__ = ("topic_partitions",)

    FIELDS = (
        Field(
            "TopicPartitions",
            "topic_partitions",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=TopicPartitions,
        ),
    )

    def __init__(
        self,
        # Partitions by topic.
        topic_partitions: list[TopicPartitions] = UNSET,  # []TopicPartitions
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_partitions = [] if topic_partitions is UNSET else topic_partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topic_partitions))
        for topic_partitions in self.topic_partitions:
            topic_partitions._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Assignment, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topic_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ConsumerGroupHeartbeatResponse(Message):
    """The member's epoch, and its assignment if that changed."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "assignment",
    )

    NAME = "ConsumerGroupHeartbeatResponse"
    TYPE = "response"
    API_KEY = 68
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1)),
        Field("MemberId", "member_id", "string", (0, 1), nullable=(0, 1)),
        Field("MemberEpoch", "member_epoch", "int32", (0, 1), default=0),
        Field("HeartbeatIntervalMs", "heartbeat_interval_ms", "int32", (0, 1), default=0),
        Field("Assignment", "assignment", "struct", (0, 1), nullable=(0, 1), struct=Assignment),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # What went wrong, null if all is well.
        error_message: str | None = None,  # string
        # Id of the member.
        member_id: str | None = None,  # string
        # Epoch of the member: 0 to join, -1 to leave, -2 to leave as a static member that comes back.
        member_epoch: int = 0,  # int32
        # How often the member should call, in milliseconds.
        heartbeat_interval_ms: int = 0,  # int32
        # The partitions assigned, in the form of the group's protocol.
        assignment: Assignment | None = None,  # Assignment
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.assignment = assignment
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_nullable_string(self.member_id))
        put(pack_ii(self.member_epoch, self.heartbeat_interval_ms))
        if self.assignment is None:
            put(b"\xff")
        else:
            put(b"\x01")
            self.assignment._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupHeartbeatResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        self.member_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.member_epoch, self.heartbeat_interval_ms = unpack_ii(buf, pos)
        pos += 8
        (present,) = wire.unpack_int8(buf, pos)
        pos += 1
        if present < 0:
            self.assignment = None
        else:
            self.assignment, pos = Assignment._read(buf, pos, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
