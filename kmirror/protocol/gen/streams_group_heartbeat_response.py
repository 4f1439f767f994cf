"""StreamsGroupHeartbeatResponse: response, key 88, versions 0, flexible from 0.

Generated from schemas/kafka/StreamsGroupHeartbeatResponse.json.
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
unpack_iiii, pack_iiii = wire.fused("iiii")


class Status(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = ("status_code", "status_detail")

    FIELDS = (
        Field("StatusCode", "status_code", "int8", (0, 0), default=0),
        Field("StatusDetail", "status_detail", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        status_code: int = 0,  # int8
        status_detail: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.status_code = status_code
        self.status_detail = status_detail
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.status_code))
        put(wire.compact_string(self.status_detail))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Status, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.status_code,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.status_detail, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class TaskIds(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

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
    """Part of StreamsGroupHeartbeatResponse."""

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


class TopicPartition(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = ("topic", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (0, 0), default="", entity="topicName"),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic: str = "",  # string, topicName
        partitions: list[int] = UNSET,  # []int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic = topic
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic))
        put(wire.compact_count(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class EndpointToPartitions(Struct):
    """Part of StreamsGroupHeartbeatResponse."""

    __slots__ = ("user_endpoint", "active_partitions", "standby_partitions")

    FIELDS = (
        Field("UserEndpoint", "user_endpoint", "struct", (0, 0), default={}, struct=Endpoint),
        Field(
            "ActivePartitions",
            "active_partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicPartition,
        ),
        Field(
            "StandbyPartitions",
            "standby_partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicPartition,
        ),
    )

    def __init__(
        self,
        user_endpoint: Endpoint = UNSET,  # Endpoint
        active_partitions: list[TopicPartition] = UNSET,  # []TopicPartition
        standby_partitions: list[TopicPartition] = UNSET,  # []TopicPartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.user_endpoint = Endpoint() if user_endpoint is UNSET else user_endpoint
        self.active_partitions = [] if active_partitions is UNSET else active_partitions
        self.standby_partitions = [] if standby_partitions is UNSET else standby_partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        self.user_endpoint._write(put, version)
        put(wire.compact_count(self.active_partitions))
        for topic_partition in self.active_partitions:
            topic_partition._write(put, version)
        put(wire.compact_count(self.standby_partitions))
        for topic_partition in self.standby_partitions:
            topic_partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndpointToPartitions, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.user_endpoint, pos = Endpoint._read(buf, pos, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.active_partitions, pos = wire.read_structs(TopicPartition._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.standby_partitions, pos = wire.read_structs(TopicPartition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class StreamsGroupHeartbeatResponse(Message):
    """StreamsGroupHeartbeatResponse, versions 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "member_id",
        "member_epoch",
        "heartbeat_interval_ms",
        "acceptable_recovery_lag",
        "task_offset_interval_ms",
        "status",
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
        "endpoint_information_epoch",
        "partitions_by_user_endpoint",
    )

    NAME = "StreamsGroupHeartbeatResponse"
    TYPE = "response"
    API_KEY = 88
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field("MemberId", "member_id", "string", (0, 0), default=""),
        Field("MemberEpoch", "member_epoch", "int32", (0, 0), default=0),
        Field("HeartbeatIntervalMs", "heartbeat_interval_ms", "int32", (0, 0), default=0),
        Field("AcceptableRecoveryLag", "acceptable_recovery_lag", "int32", (0, 0), default=0),
        Field("TaskOffsetIntervalMs", "task_offset_interval_ms", "int32", (0, 0), default=0),
        Field(
            "Status",
            "status",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            default=[],
            struct=Status,
        ),
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
        Field("EndpointInformationEpoch", "endpoint_information_epoch", "int32", (0, 0), default=0),
        Field(
            "PartitionsByUserEndpoint",
            "partitions_by_user_endpoint",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            struct=EndpointToPartitions,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        member_id: str = "",  # string
        member_epoch: int = 0,  # int32
        heartbeat_interval_ms: int = 0,  # int32
        acceptable_recovery_lag: int = 0,  # int32
        task_offset_interval_ms: int = 0,  # int32
        status: list[Status] | None = UNSET,  # []Status
        active_tasks: list[TaskIds] | None = None,  # []TaskIds
        standby_tasks: list[TaskIds] | None = None,  # []TaskIds
        warmup_tasks: list[TaskIds] | None = None,  # []TaskIds
        endpoint_information_epoch: int = 0,  # int32
        partitions_by_user_endpoint: list[EndpointToPartitions] | None = None,  # []EndpointToPartitions
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.member_id = member_id
        self.member_epoch = member_epoch
        self.heartbeat_interval_ms = heartbeat_interval_ms
        self.acceptable_recovery_lag = acceptable_recovery_lag
        self.task_offset_interval_ms = task_offset_interval_ms
        self.status = [] if status is UNSET else status
        self.active_tasks = active_tasks
        self.standby_tasks = standby_tasks
        self.warmup_tasks = warmup_tasks
        self.endpoint_information_epoch = endpoint_information_epoch
        self.partitions_by_user_endpoint = partitions_by_user_endpoint
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_string(self.member_id))
        put(pack_iiii(
            self.member_epoch,
            self.heartbeat_interval_ms,
            self.acceptable_recovery_lag,
            self.task_offset_interval_ms,
        ))
        put(wire.compact_nullable_count(self.status))
        for status in self.status or ():
            status._write(put, version)
        put(wire.compact_nullable_count(self.active_tasks))
        for task_ids in self.active_tasks or ():
            task_ids._write(put, version)
        put(wire.compact_nullable_count(self.standby_tasks))
        for task_ids in self.standby_tasks or ():
            task_ids._write(put, version)
        put(wire.compact_nullable_count(self.warmup_tasks))
        for task_ids in self.warmup_tasks or ():
            task_ids._write(put, version)
        put(wire.pack_int32(self.endpoint_information_epoch))
        put(wire.compact_nullable_count(self.partitions_by_user_endpoint))
        for endpoint_to_partitions in self.partitions_by_user_endpoint or ():
            endpoint_to_partitions._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupHeartbeatResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        self.member_id, pos = wire.read_compact_string(buf, pos)
        (
            self.member_epoch,
            self.heartbeat_interval_ms,
            self.acceptable_recovery_lag,
            self.task_offset_interval_ms,
        ) = unpack_iiii(buf, pos)
        pos += 16
        n, pos = wire.read_compact_nullable_count(buf, pos, 3)
        if n < 0:
            self.status = None
        else:
            self.status, pos = wire.read_structs(Status._read, buf, pos, n, version)
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
        (self.endpoint_information_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_nullable_count(buf, pos, 7)
        if n < 0:
            self.partitions_by_user_endpoint = None
        else:
            self.partitions_by_user_endpoint, pos = wire.read_structs(EndpointToPartitions._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
