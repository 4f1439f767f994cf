"""StreamsGroupHeartbeatRequest: request, key 88, versions 0, flexible from 0.

Generated from schemas/kafka/StreamsGroupHeartbeatRequest.json.
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
    """Part of StreamsGroupHeartbeatRequest."""

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
    """Part of StreamsGroupHeartbeatRequest."""

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


class CopartitionGroup(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = ("source_topics", "source_topic_regex", "repartition_source_topics")

    FIELDS = (
        Field("SourceTopics", "source_topics", "int16", (0, 0), is_array=True, default=[]),
        Field("SourceTopicRegex", "source_topic_regex", "int16", (0, 0), is_array=True, default=[]),
        Field(
            "RepartitionSourceTopics",
            "repartition_source_topics",
            "int16",
            (0, 0),
            is_array=True,
            default=[],
        ),
    )

    def __init__(
        self,
        source_topics: list[int] = UNSET,  # []int16
        source_topic_regex: list[int] = UNSET,  # []int16
        repartition_source_topics: list[int] = UNSET,  # []int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.source_topics = [] if source_topics is UNSET else source_topics
        self.source_topic_regex = [] if source_topic_regex is UNSET else source_topic_regex
        self.repartition_source_topics = [] if repartition_source_topics is UNSET else repartition_source_topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.source_topics))
        put(wire.numbers(self.source_topics, "h"))
        put(wire.compact_count(self.source_topic_regex))
        put(wire.numbers(self.source_topic_regex, "h"))
        put(wire.compact_count(self.repartition_source_topics))
        put(wire.numbers(self.repartition_source_topics, "h"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CopartitionGroup, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.source_topics, pos = wire.read_numbers(buf, pos, n, "h", 2)
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.source_topic_regex, pos = wire.read_numbers(buf, pos, n, "h", 2)
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.repartition_source_topics, pos = wire.read_numbers(buf, pos, n, "h", 2)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Subtopology(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = (
        "subtopology_id",
        "source_topics",
        "source_topic_regex",
        "state_changelog_topics",
        "repartition_sink_topics",
        "repartition_source_topics",
        "copartition_groups",
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
        Field("SourceTopicRegex", "source_topic_regex", "string", (0, 0), is_array=True, default=[]),
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
            "RepartitionSinkTopics",
            "repartition_sink_topics",
            "string",
            (0, 0),
            is_array=True,
            default=[],
            entity="topicName",
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
        Field(
            "CopartitionGroups",
            "copartition_groups",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=CopartitionGroup,
        ),
    )

    def __init__(
        self,
        subtopology_id: str = "",  # string
        source_topics: list[str] = UNSET,  # []string, topicName
        source_topic_regex: list[str] = UNSET,  # []string
        state_changelog_topics: list[TopicInfo] = UNSET,  # []TopicInfo
        repartition_sink_topics: list[str] = UNSET,  # []string, topicName
        repartition_source_topics: list[TopicInfo] = UNSET,  # []TopicInfo
        copartition_groups: list[CopartitionGroup] = UNSET,  # []CopartitionGroup
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.subtopology_id = subtopology_id
        self.source_topics = [] if source_topics is UNSET else source_topics
        self.source_topic_regex = [] if source_topic_regex is UNSET else source_topic_regex
        self.state_changelog_topics = [] if state_changelog_topics is UNSET else state_changelog_topics
        self.repartition_sink_topics = [] if repartition_sink_topics is UNSET else repartition_sink_topics
        self.repartition_source_topics = [] if repartition_source_topics is UNSET else repartition_source_topics
        self.copartition_groups = [] if copartition_groups is UNSET else copartition_groups
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.subtopology_id))
        put(wire.compact_count(self.source_topics))
        for text in self.source_topics:
            put(wire.compact_string(text))
        put(wire.compact_count(self.source_topic_regex))
        for text in self.source_topic_regex:
            put(wire.compact_string(text))
        put(wire.compact_count(self.state_changelog_topics))
        for topic_info in self.state_changelog_topics:
            topic_info._write(put, version)
        put(wire.compact_count(self.repartition_sink_topics))
        for text in self.repartition_sink_topics:
            put(wire.compact_string(text))
        put(wire.compact_count(self.repartition_source_topics))
        for topic_info in self.repartition_source_topics:
            topic_info._write(put, version)
        put(wire.compact_count(self.copartition_groups))
        for copartition_group in self.copartition_groups:
            copartition_group._write(put, version)
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
        self.source_topic_regex, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.state_changelog_topics, pos = wire.read_structs(TopicInfo._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.repartition_sink_topics, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.repartition_source_topics, pos = wire.read_structs(TopicInfo._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.copartition_groups, pos = wire.read_structs(CopartitionGroup._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class Topology(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

    __slots__ = ("epoch", "subtopologies")

    FIELDS = (
        Field("Epoch", "epoch", "int32", (0, 0), default=0),
        Field(
            "Subtopologies",
            "subtopologies",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=Subtopology,
        ),
    )

    def __init__(
        self,
        epoch: int = 0,  # int32
        subtopologies: list[Subtopology] = UNSET,  # []Subtopology
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.epoch = epoch
        self.subtopologies = [] if subtopologies is UNSET else subtopologies
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.epoch))
        put(wire.compact_count(self.subtopologies))
        for subtopology in self.subtopologies:
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
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.subtopologies, pos = wire.read_structs(Subtopology._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TaskIds(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

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


class Endpoint(Struct):
    """Part of StreamsGroupHeartbeatRequest."""

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
    """Part of StreamsGroupHeartbeatRequest."""

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


class StreamsGroupHeartbeatRequest(Message):
    """StreamsGroupHeartbeatRequest, versions 0."""

    __slots__ = (
        "group_id",
        "member_id",
        "member_epoch",
        "endpoint_information_epoch",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "topology",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "process_id",
        "user_endpoint",
        "client_tags",
        "task_offsets",
        "task_end_offsets",
        "shutdown_application",
    )

    NAME = "StreamsGroupHeartbeatRequest"
    TYPE = "request"
    API_KEY = 88
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 0), default="", entity="groupId"),
        Field("MemberId", "member_id", "string", (0, 0), default=""),
        Field("MemberEpoch", "member_epoch", "int32", (0, 0), default=0),
        Field("EndpointInformationEpoch", "endpoint_information_epoch", "int32", (0, 0), default=0),
        Field("InstanceId", "instance_id", "string", (0, 0), nullable=(0, 0)),
        Field("RackId", "rack_id", "string", (0, 0), nullable=(0, 0)),
        Field("RebalanceTimeoutMs", "rebalance_timeout_ms", "int32", (0, 0), default=-1),
        Field("Topology", "topology", "struct", (0, 0), nullable=(0, 0), struct=Topology),
        Field(
            "ActiveTasks",
            "active_tasks",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            struct=TaskIds,
        ),
        Field(
            "StandbyTasks",
            "standby_tasks",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            struct=TaskIds,
        ),
        Field(
            "WarmupTasks",
            "warmup_tasks",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            struct=TaskIds,
        ),
        Field("ProcessId", "process_id", "string", (0, 0), nullable=(0, 0)),
        Field("UserEndpoint", "user_endpoint", "struct", (0, 0), nullable=(0, 0), struct=Endpoint),
        Field("ClientTags", "client_tags", "struct", (0, 0), is_array=True, nullable=(0, 0), struct=KeyValue),
        Field(
            "TaskOffsets",
            "task_offsets",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            struct=TaskOffset,
        ),
        Field(
            "TaskEndOffsets",
            "task_end_offsets",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            struct=TaskOffset,
        ),
        Field("ShutdownApplication", "shutdown_application", "bool", (0, 0), default=False),
    )

    def __init__(
        self,
        group_id: str = "",  # string, groupId
        member_id: str = "",  # string
        member_epoch: int = 0,  # int32
        endpoint_information_epoch: int = 0,  # int32
        instance_id: str | None = None,  # string
        rack_id: str | None = None,  # string
        rebalance_timeout_ms: int = -1,  # int32
        topology: Topology | None = None,  # Topology
        active_tasks: list[TaskIds] | None = None,  # []TaskIds
        standby_tasks: list[TaskIds] | None = None,  # []TaskIds
        warmup_tasks: list[TaskIds] | None = None,  # []TaskIds
        process_id: str | None = None,  # string
        user_endpoint: Endpoint | None = None,  # Endpoint
        client_tags: list[KeyValue] | None = None,  # []KeyValue
        task_offsets: list[TaskOffset] | None = None,  # []TaskOffset
        task_end_offsets: list[TaskOffset] | None = None,  # []TaskOffset
        shutdown_application: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.endpoint_information_epoch = endpoint_information_epoch
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology = topology
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = client_tags
        self.task_offsets = task_offsets
        self.task_end_offsets = task_end_offsets
        self.shutdown_application = shutdown_application
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_string(self.member_id))
        put(pack_ii(self.member_epoch, self.endpoint_information_epoch))
        put(wire.compact_nullable_string(self.instance_id))
        put(wire.compact_nullable_string(self.rack_id))
        put(wire.pack_int32(self.rebalance_timeout_ms))
        if self.topology is None:
            put(b"\xff")
        else:
            put(b"\x01")
            self.topology._write(put, version)
        put(wire.compact_nullable_count(self.active_tasks))
        for task_ids in self.active_tasks or ():
            task_ids._write(put, version)
        put(wire.compact_nullable_count(self.standby_tasks))
        for task_ids in self.standby_tasks or ():
            task_ids._write(put, version)
        put(wire.compact_nullable_count(self.warmup_tasks))
        for task_ids in self.warmup_tasks or ():
            task_ids._write(put, version)
        put(wire.compact_nullable_string(self.process_id))
        if self.user_endpoint is None:
            put(b"\xff")
        else:
            put(b"\x01")
            self.user_endpoint._write(put, version)
        put(wire.compact_nullable_count(self.client_tags))
        for key_value in self.client_tags or ():
            key_value._write(put, version)
        put(wire.compact_nullable_count(self.task_offsets))
        for task_offset in self.task_offsets or ():
            task_offset._write(put, version)
        put(wire.compact_nullable_count(self.task_end_offsets))
        for task_offset in self.task_end_offsets or ():
            task_offset._write(put, version)
        put(wire.pack_bool(self.shutdown_application))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupHeartbeatRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        self.member_id, pos = wire.read_compact_string(buf, pos)
        self.member_epoch, self.endpoint_information_epoch = unpack_ii(buf, pos)
        pos += 8
        self.instance_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.rack_id, pos = wire.read_compact_nullable_string(buf, pos)
        (self.rebalance_timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        (present,) = wire.unpack_int8(buf, pos)
        pos += 1
        if present < 0:
            self.topology = None
        else:
            self.topology, pos = Topology._read(buf, pos, version)
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.active_tasks = None
        else:
            self.active_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.standby_tasks = None
        else:
            self.standby_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.warmup_tasks = None
        else:
            self.warmup_tasks, pos = wire.read_structs(TaskIds._read, buf, pos, n, version)
        self.process_id, pos = wire.read_compact_nullable_string(buf, pos)
        (present,) = wire.unpack_int8(buf, pos)
        pos += 1
        if present < 0:
            self.user_endpoint = None
        else:
            self.user_endpoint, pos = Endpoint._read(buf, pos, version)
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.client_tags = None
        else:
            self.client_tags, pos = wire.read_structs(KeyValue._read, buf, pos, n, version)
        n, pos = wire.read_compact_nullable_count(buf, pos, 14)
        if n < 0:
            self.task_offsets = None
        else:
            self.task_offsets, pos = wire.read_structs(TaskOffset._read, buf, pos, n, version)
        n, pos = wire.read_compact_nullable_count(buf, pos, 14)
        if n < 0:
            self.task_end_offsets = None
        else:
            self.task_end_offsets, pos = wire.read_structs(TaskOffset._read, buf, pos, n, version)
        (self.shutdown_application,) = wire.unpack_bool(buf, pos)
        pos += 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
