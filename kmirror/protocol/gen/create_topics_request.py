"""CreateTopicsRequest: request, key 19, versions 2-8, flexible from 5.

Generated from schemas/kafka/CreateTopicsRequest.json and schemas/mirroring/CreateTopicsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_io, pack_io = wire.fused("i?")
unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreatableReplicaAssignment(Struct):
    """Part of CreateTopicsRequest."""

    partition_index: int = 0  # int32
    broker_ids: list[int] = field(default_factory=list)  # []int32, brokerId

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (2, 8), default=0, map_key=True),
        Field("BrokerIds", "broker_ids", "int32", (2, 8), is_array=True, default=[], entity="brokerId"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        put((wire.compact_count if version >= 5 else wire.count)(self.broker_ids))
        put(wire.numbers(self.broker_ids, "i"))
        if version >= 5:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableReplicaAssignment, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 4)
        self.broker_ids, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 5:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreatableTopicConfig(Struct):
    """Part of CreateTopicsRequest."""

    name: str = ""  # string
    value: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (2, 8), default="", map_key=True),
        Field("Value", "value", "string", (2, 8), nullable=(2, 8), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 5 else wire.string)(self.name))
        put((wire.compact_nullable_string if version >= 5 else wire.nullable_string)(self.value))
        if version >= 5:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableTopicConfig, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        self.value, pos = (wire.read_compact_nullable_string if version >= 5 else wire.read_nullable_string)(buf, pos)
        if version >= 5:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class MirrorInfo(Struct):
    """Part of CreateTopicsRequest, v8+."""

    # Id of the topic in the source cluster, to be kept here.
    topic_id: Uuid = Uuid.ZERO  # uuid

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (8, 8), default=Uuid.ZERO),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MirrorInfo, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreatableTopic(Struct):
    """Part of CreateTopicsRequest."""

    name: str = ""  # string, topicName
    num_partitions: int = 0  # int32
    replication_factor: int = 0  # int16
    assignments: list[CreatableReplicaAssignment] = field(default_factory=list)  # []CreatableReplicaAssignment
    configs: list[CreatableTopicConfig] = field(default_factory=list)  # []CreatableTopicConfig
    # Set when the topic is made for a mirror.
    mirror_info: MirrorInfo | None = None  # MirrorInfo, v8+, ignorable

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (2, 8), default="", entity="topicName", map_key=True),
        Field("NumPartitions", "num_partitions", "int32", (2, 8), default=0),
        Field("ReplicationFactor", "replication_factor", "int16", (2, 8), default=0),
        Field(
            "Assignments",
            "assignments",
            "struct",
            (2, 8),
            is_array=True,
            default=[],
            struct=CreatableReplicaAssignment,
        ),
        Field("Configs", "configs", "struct", (2, 8), is_array=True, default=[], struct=CreatableTopicConfig),
        Field(
            "MirrorInfo",
            "mirror_info",
            "struct",
            (8, 8),
            nullable=(8, 8),
            ignorable=True,
            struct=MirrorInfo,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 5 else wire.string)(self.name))
        put(pack_ih(self.num_partitions, self.replication_factor))
        put((wire.compact_count if version >= 5 else wire.count)(self.assignments))
        for creatable_replica_assignment in self.assignments:
            creatable_replica_assignment._write(put, version)
        put((wire.compact_count if version >= 5 else wire.count)(self.configs))
        for creatable_topic_config in self.configs:
            creatable_topic_config._write(put, version)
        if version >= 8:
            if self.mirror_info is None:
                put(b"\xff")
            else:
                put(b"\x01")
                self.mirror_info._write(put, version)
        if version >= 5:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        self.num_partitions, self.replication_factor = unpack_ih(buf, pos)
        pos += 6
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 6)
        self.assignments, pos = wire.read_structs(CreatableReplicaAssignment._read, buf, pos, n, version)
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 3)
        self.configs, pos = wire.read_structs(CreatableTopicConfig._read, buf, pos, n, version)
        if version >= 8:
            (present,) = wire.unpack_int8(buf, pos)
            pos += 1
            if present < 0:
                self.mirror_info = None
            else:
                self.mirror_info, pos = MirrorInfo._read(buf, pos, version)
        else:
            self.mirror_info = None
        if version >= 5:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreateTopicsRequest(Message):
    """CreateTopicsRequest, versions 2-8."""

    topics: list[CreatableTopic] = field(default_factory=list)  # []CreatableTopic
    timeout_ms: int = 60000  # int32
    validate_only: bool = False  # bool

    NAME: ClassVar[str] = "CreateTopicsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 19
    MIN_VERSION: ClassVar[int] = 2
    MAX_VERSION: ClassVar[int] = 8
    FLEXIBLE_FROM: ClassVar[int | None] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "struct", (2, 8), is_array=True, default=[], struct=CreatableTopic),
        Field("timeoutMs", "timeout_ms", "int32", (2, 8), default=60000),
        Field("validateOnly", "validate_only", "bool", (2, 8), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 5 else wire.count)(self.topics))
        for creatable_topic in self.topics:
            creatable_topic._write(put, version)
        put(pack_io(self.timeout_ms, self.validate_only))
        if version >= 5:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateTopicsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 10)
        self.topics, pos = wire.read_structs(CreatableTopic._read, buf, pos, n, version)
        self.timeout_ms, self.validate_only = unpack_io(buf, pos)
        pos += 5
        if version >= 5:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
