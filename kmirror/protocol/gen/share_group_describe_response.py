"""ShareGroupDescribeResponse: response, key 77, versions 1, flexible from 0.

Generated from schemas/kafka/ShareGroupDescribeResponse.json.
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


class TopicPartitions(Struct):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = ("topic_id", "topic_name", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (1, 1), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (1, 1), default="", entity="topicName"),
        Field("Partitions", "partitions", "int32", (1, 1), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        topic_name: str = "",  # string, topicName
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
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
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Assignment(Struct):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = ("topic_partitions",)

    FIELDS = (
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

    def __init__(
        self,
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
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.topic_partitions, pos = wire.read_structs(TopicPartitions._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Member(Struct):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = (
        "member_id",
        "rack_id",
        "member_epoch",
        "client_id",
        "client_host",
        "subscribed_topic_names",
        "assignment",
    )

    FIELDS = (
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

    def __init__(
        self,
        member_id: str = "",  # string
        rack_id: str | None = None,  # string
        member_epoch: int = 0,  # int32
        client_id: str = "",  # string
        client_host: str = "",  # string
        subscribed_topic_names: list[str] = UNSET,  # []string, topicName
        assignment: Assignment = UNSET,  # Assignment
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_id = member_id
        self.rack_id = rack_id
        self.member_epoch = member_epoch
        self.client_id = client_id
        self.client_host = client_host
        self.subscribed_topic_names = [] if subscribed_topic_names is UNSET else subscribed_topic_names
        self.assignment = Assignment() if assignment is UNSET else assignment
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Member, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribedGroup(Struct):
    """Part of ShareGroupDescribeResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "assignor_name",
        "members",
        "authorized_operations",
    )

    FIELDS = (
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

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        group_id: str = "",  # string, groupId
        group_state: str = "",  # string
        group_epoch: int = 0,  # int32
        assignment_epoch: int = 0,  # int32
        assignor_name: str = "",  # string
        members: list[Member] = UNSET,  # []Member
        authorized_operations: int = -2147483648,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.group_id = group_id
        self.group_state = group_state
        self.group_epoch = group_epoch
        self.assignment_epoch = assignment_epoch
        self.assignor_name = assignor_name
        self.members = [] if members is UNSET else members
        self.authorized_operations = authorized_operations
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedGroup, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ShareGroupDescribeResponse(Message):
    """ShareGroupDescribeResponse, versions 1."""

    __slots__ = ("throttle_time_ms", "groups")

    NAME = "ShareGroupDescribeResponse"
    TYPE = "response"
    API_KEY = 77
    MIN_VERSION = 1
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 1), default=0),
        Field("Groups", "groups", "struct", (1, 1), is_array=True, default=[], struct=DescribedGroup),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        groups: list[DescribedGroup] = UNSET,  # []DescribedGroup
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.groups = [] if groups is UNSET else groups
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.groups))
        for described_group in self.groups:
            described_group._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupDescribeResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.groups, pos = wire.read_structs(DescribedGroup._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
