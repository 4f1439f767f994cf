"""ShareGroupDescribeResponse: response, key 77, versions 1, flexible from 0.

Generated from schemas/kafka/ShareGroupDescribeResponse.json.
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
class TopicPartitions(Struct):
    """Part of ShareGroupDescribeResponse."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    topic_name: str = ""  # string, topicName
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (1, 1), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (1, 1), default="", entity="topicName"),
        Field("Partitions", "partitions", "int32", (1, 1), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
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
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Assignment(Struct):
    """Part of ShareGroupDescribeResponse."""

    topic_partitions: list[TopicPartitions] = field(default_factory=list)  # []TopicPartitions

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "TopicPartitions",
            "topic_partitions",
            "struct",
            (1, 1),
            is_array=True,
            default=[],
            struct=TopicPartitions,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topic_partitions))
        for topic_partitions in self.topic_partitions:
            topic_partitions._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Assignment, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.topic_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Member(Struct):
    """Part of ShareGroupDescribeResponse."""

    member_id: str = ""  # string
    rack_id: str | None = None  # string
    member_epoch: int = 0  # int32
    client_id: str = ""  # string
    client_host: str = ""  # string
    subscribed_topic_names: list[str] = field(default_factory=list)  # []string, topicName
    assignment: Assignment = field(default_factory=Assignment)  # Assignment

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("MemberId", "member_id", "string", (1, 1), default=""),
        Field("RackId", "rack_id", "string", (1, 1), nullable=(1, 1)),
        Field("MemberEpoch", "member_epoch", "int32", (1, 1), default=0),
        Field("ClientId", "client_id", "string", (1, 1), default=""),
        Field("ClientHost", "client_host", "string", (1, 1), default=""),
        Field(
            "SubscribedTopicNames",
            "subscribed_topic_names",
            "string",
            (1, 1),
            is_array=True,
            default=[],
            entity="topicName",
        ),
        Field("Assignment", "assignment", "struct", (1, 1), default={}, struct=Assignment),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.member_id))
        put(wire.compact_nullable_string(self.rack_id))
        put(wire.pack_int32(self.member_epoch))
        put(wire.compact_string(self.client_id))
        put(wire.compact_string(self.client_host))
        put(wire.compact_count(self.subscribed_topic_names))
        for text in self.subscribed_topic_names:
            put(wire.compact_string(text))
        self.assignment._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Member, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.member_id, pos = wire.read_compact_string(buf, pos)
        self.rack_id, pos = wire.read_compact_nullable_string(buf, pos)
        (self.member_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.client_id, pos = wire.read_compact_string(buf, pos)
        self.client_host, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.subscribed_topic_names, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        self.assignment, pos = Assignment._read(buf, pos, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribedGroup(Struct):
    """Part of ShareGroupDescribeResponse."""

    error_code: int = 0  # int16
    error_message: str | None = None  # string
    group_id: str = ""  # string, groupId
    group_state: str = ""  # string
    group_epoch: int = 0  # int32
    assignment_epoch: int = 0  # int32
    assignor_name: str = ""  # string
    members: list[Member] = field(default_factory=list)  # []Member
    authorized_operations: int = -2147483648  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 1), nullable=(1, 1)),
        Field("GroupId", "group_id", "string", (1, 1), default="", entity="groupId"),
        Field("GroupState", "group_state", "string", (1, 1), default=""),
        Field("GroupEpoch", "group_epoch", "int32", (1, 1), default=0),
        Field("AssignmentEpoch", "assignment_epoch", "int32", (1, 1), default=0),
        Field("AssignorName", "assignor_name", "string", (1, 1), default=""),
        Field("Members", "members", "struct", (1, 1), is_array=True, default=[], struct=Member),
        Field("AuthorizedOperations", "authorized_operations", "int32", (1, 1), default=-2147483648),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_string(self.group_id))
        put(wire.compact_string(self.group_state))
        put(pack_ii(self.group_epoch, self.assignment_epoch))
        put(wire.compact_string(self.assignor_name))
        put(wire.compact_count(self.members))
        for member in self.members:
            member._write(put, version)
        put(wire.pack_int32(self.authorized_operations))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedGroup, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        self.group_id, pos = wire.read_compact_string(buf, pos)
        self.group_state, pos = wire.read_compact_string(buf, pos)
        self.group_epoch, self.assignment_epoch = unpack_ii(buf, pos)
        pos += 8
        self.assignor_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 12)
        self.members, pos = wire.read_structs(Member._read, buf, pos, n, version)
        (self.authorized_operations,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ShareGroupDescribeResponse(Message):
    """ShareGroupDescribeResponse, versions 1."""

    throttle_time_ms: int = 0  # int32
    groups: list[DescribedGroup] = field(default_factory=list)  # []DescribedGroup

    NAME: ClassVar[str] = "ShareGroupDescribeResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 77
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 1), default=0),
        Field("Groups", "groups", "struct", (1, 1), is_array=True, default=[], struct=DescribedGroup),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.groups))
        for described_group in self.groups:
            described_group._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupDescribeResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.groups, pos = wire.read_structs(DescribedGroup._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
