"""StreamsGroupDescribeResponse: response, key 89, versions 0, flexible from 0.

Generated from schemas/kafka/StreamsGroupDescribeResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")
unpack_ii, pack_ii = wire.fused("ii")
unpack_iq, pack_iq = wire.fused("iq")


class KeyValue(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("key", "value")

    FIELDS = (
        Field("Key", "key", "string", (0, 0), default=""),
        Field("Value", "value", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        key: str = "",  # string
        value: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.key = key
        self.value = value
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.key))
        put(wire.compact_string(self.value))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[KeyValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.key, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TopicInfo(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("name", "partitions", "replication_factor", "topic_configs")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
        Field("Partitions", "partitions", "int32", (0, 0), default=0),
        Field("ReplicationFactor", "replication_factor", "int16", (0, 0), default=0),
        Field("TopicConfigs", "topic_configs", "struct", (0, 0), is_array=True, default=[], struct=KeyValue),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: int = 0,  # int32
        replication_factor: int = 0,  # int16
        topic_configs: list[KeyValue] = UNSET,  # []KeyValue
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = partitions
        self.replication_factor = replication_factor
        self.topic_configs = [] if topic_configs is UNSET else topic_configs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(pack_ih(self.partitions, self.replication_factor))
        put(wire.compact_count(self.topic_configs))
        for key_value in self.topic_configs:
            key_value._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicInfo, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.partitions, self.replication_factor = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topic_configs, pos = wire.read_structs(KeyValue._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Subtopology(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "repartition_sink_topics",
        "state_changelog_topics",
        "repartition_source_topics",
    )

    FIELDS = (
        Field("SubtopologyId", "subtopology_id", "string", (0, 0), default=""),
        Field(
            "SourceTopics",
            "source_topics",
            "string",
            (0, 0),
            is_array=True,
            default=[],
            entity="topicName",
        ),
        Field(
            "RepartitionSinkTopics",
            "repartition_sink_topics",
            "string",
            (0, 0),
            is_array=True,
            default=[],
            entity="topicName",
        ),
        Field(
            "StateChangelogTopics",
            "state_changelog_topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicInfo,
        ),
        Field(
            "RepartitionSourceTopics",
            "repartition_source_topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicInfo,
        ),
    )

    def __init__(
        self,
        subtopology_id: str = "",  # string
        source_topics: list[str] = UNSET,  # []string, topicName
        repartition_sink_topics: list[str] = UNSET,  # []string, topicName
        state_changelog_topics: list[TopicInfo] = UNSET,  # []TopicInfo
        repartition_source_topics: list[TopicInfo] = UNSET,  # []TopicInfo
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is UNSET else source_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is UNSET else repartition_sink_topics
        self.state_changelog_topics = [] if state_changelog_topics is UNSET else state_changelog_topics
        self.repartition_source_topics = [] if repartition_source_topics is UNSET else repartition_source_topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.subtopology_id))
        put(wire.compact_count(self.source_topics))
        for text in self.source_topics:
            put(wire.compact_string(text))
        put(wire.compact_count(self.repartition_sink_topics))
        for text in self.repartition_sink_topics:
            put(wire.compact_string(text))
        put(wire.compact_count(self.state_changelog_topics))
        for topic_info in self.state_changelog_topics:
            topic_info._write(put, version)
        put(wire.compact_count(self.repartition_source_topics))
        for topic_info in self.repartition_source_topics:
            topic_info._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Subtopology, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.subtopology_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.source_topics, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.repartition_sink_topics, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.state_changelog_topics, pos = wire.read_structs(TopicInfo._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.repartition_source_topics, pos = wire.read_structs(TopicInfo._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Topology(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("epoch", "subtopologies")

    FIELDS = (
        Field("Epoch", "epoch", "int32", (0, 0), default=0),
        Field(
            "Subtopologies",
            "subtopologies",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            struct=Subtopology,
        ),
    )

    def __init__(
        self,
        epoch: int = 0,  # int32
        subtopologies: list[Subtopology] | None = None,  # []Subtopology
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.epoch = epoch
        self.subtopologies = subtopologies
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.epoch))
        put(wire.compact_nullable_count(self.subtopologies))
        for subtopology in self.subtopologies or ():
            subtopology._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Topology, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_nullable_count(buf, pos, 6)
        if n < 0:
            self.subtopologies = None
        else:
            self.subtopologies, pos = wire.read_structs(Subtopology._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Endpoint(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("host", "port")

    FIELDS = (
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Port", "port", "uint16", (0, 0), default=0),
    )

    def __init__(
        self,
        host: str = "",  # string
        port: int = 0,  # uint16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Endpoint, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TaskOffset(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("subtopology_id", "partition", "offset")

    FIELDS = (
        Field("SubtopologyId", "subtopology_id", "string", (0, 0), default=""),
        Field("Partition", "partition", "int32", (0, 0), default=0),
        Field("Offset", "offset", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        subtopology_id: str = "",  # string
        partition: int = 0,  # int32
        offset: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.subtopology_id = subtopology_id
        self.partition = partition
        self.offset = offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.subtopology_id))
        put(pack_iq(self.partition, self.offset))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TaskOffset, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.subtopology_id, pos = wire.read_compact_string(buf, pos)
        self.partition, self.offset = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TaskIds(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("subtopology_id", "partitions")

    FIELDS = (
        Field("SubtopologyId", "subtopology_id", "string", (0, 0), default=""),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        subtopology_id: str = "",  # string
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.subtopology_id = subtopology_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.subtopology_id))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TaskIds, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.subtopology_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Assignment(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = ("active_tasks", "standby_tasks", "warmup_tasks")

    FIELDS = (
        Field("ActiveTasks", "active_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
        Field("StandbyTasks", "standby_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
        Field("WarmupTasks", "warmup_tasks", "struct", (0, 0), is_array=True, default=[], struct=TaskIds),
    )

    def __init__(
        self,
        active_tasks: list[TaskIds] = UNSET,  # []TaskIds
        standby_tasks: list[TaskIds] = UNSET,  # []TaskIds
        warmup_tasks: list[TaskIds] = UNSET,  # []TaskIds
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.active_tasks = [] if active_tasks is UNSET else active_tasks
        self.standby_tasks = [] if standby_tasks is UNSET else standby_tasks
        self.warmup_tasks = [] if warmup_tasks is UNSET else warmup_tasks
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.active_tasks))
        for task_ids in self.active_tasks:
            task_ids._write(put, version)
        put(wire.compact_count(self.standby_tasks))
        for task_ids in self.standby_tasks:
            task_ids._write(put, version)
        put(wire.compact_count(self.warmup_tasks))
        for task_ids in self.warmup_tasks:
            task_ids._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Assignment, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.active_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.standby_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.warmup_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Member(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "member_id",
        "member_epoch",
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "assignment",
        "target_assignment",
        "is_classic",
    )

    FIELDS = (
        Field("MemberId", "member_id", "string", (0, 0), default=""),
        Field("MemberEpoch", "member_epoch", "int32", (0, 0), default=0),
        Field("InstanceId", "instance_id", "string", (0, 0), nullable=(0, 0)),
        Field("RackId", "rack_id", "string", (0, 0), nullable=(0, 0)),
        Field("ClientId", "client_id", "string", (0, 0), default=""),
        Field("ClientHost", "client_host", "string", (0, 0), default=""),
        Field("TopologyEpoch", "topology_epoch", "int32", (0, 0), default=0),
        Field("ProcessId", "process_id", "string", (0, 0), default=""),
        Field("UserEndpoint", "user_endpoint", "struct", (0, 0), nullable=(0, 0), struct=Endpoint),
        Field("ClientTags", "client_tags", "struct", (0, 0), is_array=True, default=[], struct=KeyValue),
        Field("TaskOffsets", "task_offsets", "struct", (0, 0), is_array=True, default=[], struct=TaskOffset),
        Field(
            "TaskEndOffsets",
            "task_end_offsets",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TaskOffset,
        ),
        Field("Assignment", "assignment", "struct", (0, 0), default={}, struct=Assignment),
        Field("TargetAssignment", "target_assignment", "struct", (0, 0), default={}, struct=Assignment),
        Field("IsClassic", "is_classic", "bool", (0, 0), default=False),
    )

    def __init__(
        self,
        member_id: str = "",  # string
        member_epoch: int = 0,  # int32
        instance_id: str | None = None,  # string
        rack_id: str | None = None,  # string
        client_id: str = "",  # string
        client_host: str = "",  # string
        topology_epoch: int = 0,  # int32
        process_id: str = "",  # string
        user_endpoint: Endpoint | None = None,  # Endpoint
        client_tags: list[KeyValue] = UNSET,  # []KeyValue
        task_offsets: list[TaskOffset] = UNSET,  # []TaskOffset
        task_end_offsets: list[TaskOffset] = UNSET,  # []TaskOffset
        assignment: Assignment = UNSET,  # Assignment
        target_assignment: Assignment = UNSET,  # Assignment
        is_classic: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is UNSET else client_tags
        self.task_offsets = [] if task_offsets is UNSET else task_offsets
        self.task_end_offsets = [] if task_end_offsets is UNSET else task_end_offsets
        self.assignment = Assignment() if assignment is UNSET else assignment
        self.target_assignment = Assignment() if target_assignment is UNSET else target_assignment
        self.is_classic = is_classic
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.member_id))
        put(wire.pack_int32(self.member_epoch))
        put(wire.compact_nullable_string(self.instance_id))
        put(wire.compact_nullable_string(self.rack_id))
        put(wire.compact_string(self.client_id))
        put(wire.compact_string(self.client_host))
        put(wire.pack_int32(self.topology_epoch))
        put(wire.compact_string(self.process_id))
        if self.user_endpoint is None:
            put(b"\xff")
        else:
            put(b"\x01")
            self.user_endpoint._write(put, version)
        put(wire.compact_count(self.client_tags))
        for key_value in self.client_tags:
            key_value._write(put, version)
        put(wire.compact_count(self.task_offsets))
        for task_offset in self.task_offsets:
            task_offset._write(put, version)
        put(wire.compact_count(self.task_end_offsets))
        for task_offset in self.task_end_offsets:
            task_offset._write(put, version)
        self.assignment._write(put, version)
        self.target_assignment._write(put, version)
        put(wire.pack_bool(self.is_classic))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Member, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.member_id, pos = wire.read_compact_string(buf, pos)
        (self.member_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.instance_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.rack_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.client_id, pos = wire.read_compact_string(buf, pos)
        self.client_host, pos = wire.read_compact_string(buf, pos)
        (self.topology_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.process_id, pos = wire.read_compact_string(buf, pos)
        (present,) = wire.unpack_int8(buf, pos)
        pos += 1
        if present < 0:
            self.user_endpoint = None
        else:
            self.user_endpoint, pos = Endpoint._read(buf, pos, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.client_tags, pos = wire.read_structs(KeyValue._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 14)
        self.task_offsets, pos = wire.read_structs(TaskOffset._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 14)
        self.task_end_offsets, pos = wire.read_structs(TaskOffset._read, buf, pos, n, version)
        self.assignment, pos = Assignment._read(buf, pos, version)
        self.target_assignment, pos = Assignment._read(buf, pos, version)
        (self.is_classic,) = wire.unpack_bool(buf, pos)
        pos += 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribedGroup(Struct):
    """Part of StreamsGroupDescribeResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "group_epoch",
        "assignment_epoch",
        "topology",
        "members",
        "authorized_operations",
    )

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field("GroupId", "group_id", "string", (0, 0), default="", entity="groupId"),
        Field("GroupState", "group_state", "string", (0, 0), default=""),
        Field("GroupEpoch", "group_epoch", "int32", (0, 0), default=0),
        Field("AssignmentEpoch", "assignment_epoch", "int32", (0, 0), default=0),
        Field("Topology", "topology", "struct", (0, 0), nullable=(0, 0), struct=Topology),
        Field("Members", "members", "struct", (0, 0), is_array=True, default=[], struct=Member),
        Field("AuthorizedOperations", "authorized_operations", "int32", (0, 0), default=-2147483648),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        group_id: str = "",  # string, groupId
        group_state: str = "",  # string
        group_epoch: int = 0,  # int32
        assignment_epoch: int = 0,  # int32
        topology: Topology | None = None,  # Topology
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
        self.topology = topology
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
        if self.topology is None:
            put(b"\xff")
        else:
            put(b"\x01")
            self.topology._write(put, version)
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
        (present,) = wire.unpack_int8(buf, pos)
        pos += 1
        if present < 0:
            self.topology = None
        else:
            self.topology, pos = Topology._read(buf, pos, version)
        n, pos = wire.read_compact_count(buf, pos, 28)
        self.members, pos = wire.read_structs(Member._read, buf, pos, n, version)
        (self.authorized_operations,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class StreamsGroupDescribeResponse(Message):
    """StreamsGroupDescribeResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "groups")

    NAME = "StreamsGroupDescribeResponse"
    TYPE = "response"
    API_KEY = 89
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("Groups", "groups", "struct", (0, 0), is_array=True, default=[], struct=DescribedGroup),
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupDescribeResponse, int]:
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
