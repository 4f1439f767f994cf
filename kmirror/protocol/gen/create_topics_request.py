"""CreateTopicsRequest: request, key 19, versions 2-8, flexible from 5.

Generated from schemas/kafka/CreateTopicsRequest.json and schemas/mirroring/CreateTopicsRequest.json.
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

unpack_io, pack_io = wire.fused("i?")
unpack_ih, pack_ih = wire.fused("ih")


class CreatableReplicaAssignment(Struct):
    """Part of CreateTopicsRequest."""

    __slots__ = ("partition_index", "broker_ids")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (2, 8), default=0, map_key=True),
        Field("BrokerIds", "broker_ids", "int32", (2, 8), is_array=True, default=[], entity="brokerId"),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        broker_ids: list[int] = UNSET,  # []int32, brokerId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.broker_ids = [] if broker_ids is UNSET else broker_ids
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition_index))
        put((wire.compact_count if version >= 5 else wire.count)(self.broker_ids))
        put(wire.numbers(self.broker_ids, "i"))
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableReplicaAssignment, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition_index,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 4)
        self.broker_ids, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 5:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class CreatableTopicConfig(Struct):
    """Part of CreateTopicsRequest."""

    __slots__ = ("name", "value")

    FIELDS = (
        Field("Name", "name", "string", (2, 8), default="", map_key=True),
        Field("Value", "value", "string", (2, 8), nullable=(2, 8), default=""),
    )

    def __init__(
        self,
        name: str = "",  # string
        value: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.value = value
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 5 else wire.string)(self.name))
        put((wire.compact_nullable_string if version >= 5 else wire.nullable_string)(self.value))
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableTopicConfig, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        self.value, pos = (wire.read_compact_nullable_string if version >= 5 else wire.read_nullable_string)(buf, pos)
        if version >= 5:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class MirrorInfo(Struct):
    """Part of CreateTopicsRequest, v8+."""

    __slots__ = ("topic_id",)

    mirror_name = Tagged[str]("mirror_name", "")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (8, 8), default=Uuid.ZERO),
        Field(
            "MirrorName",
            "mirror_name",
            "string",
            (8, 8),
            tagged=(8, 8),
            tag=0,
            default="",
            entity="mirrorName",
        ),
    )

    def __init__(
        self,
        # Id of the topic in the source cluster, to be kept here.
        topic_id: Uuid = Uuid.ZERO,  # uuid
        # Mirror whose sync asks; the topic is made only while it is mirrored there. Empty for any other
        # client.
        mirror_name: str = "",  # string, tag 0, mirrorName
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        if mirror_name != "":
            self.mirror_name = mirror_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "mirror_name" in tagged and tagged["mirror_name"]:
            tags.append(wire.tag(0, wire.compact_string(tagged["mirror_name"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MirrorInfo, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["mirror_name"], pos = wire.read_compact_string(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class CreatableTopic(Struct):
    """Part of CreateTopicsRequest."""

    __slots__ = ("name", "num_partitions", "replication_factor", "assignments", "configs", "mirror_info")

    FIELDS = (
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

    def __init__(
        self,
        name: str = "",  # string, topicName
        num_partitions: int = 0,  # int32
        replication_factor: int = 0,  # int16
        assignments: list[CreatableReplicaAssignment] = UNSET,  # []CreatableReplicaAssignment
        configs: list[CreatableTopicConfig] = UNSET,  # []CreatableTopicConfig
        # Set when the topic is made for a mirror.
        mirror_info: MirrorInfo | None = None,  # MirrorInfo, v8+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.assignments = [] if assignments is UNSET else assignments
        self.configs = [] if configs is UNSET else configs
        self.mirror_info = mirror_info
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class CreateTopicsRequest(Message):
    """CreateTopicsRequest, versions 2-8."""

    __slots__ = ("topics", "timeout_ms", "validate_only")

    NAME = "CreateTopicsRequest"
    TYPE = "request"
    API_KEY = 19
    MIN_VERSION = 2
    MAX_VERSION = 8
    FLEXIBLE_FROM = 5
    FIELDS = (
        Field("Topics", "topics", "struct", (2, 8), is_array=True, default=[], struct=CreatableTopic),
        Field("timeoutMs", "timeout_ms", "int32", (2, 8), default=60000),
        Field("validateOnly", "validate_only", "bool", (2, 8), default=False),
    )

    def __init__(
        self,
        topics: list[CreatableTopic] = UNSET,  # []CreatableTopic
        timeout_ms: int = 60000,  # int32
        validate_only: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 5 else wire.count)(self.topics))
        for creatable_topic in self.topics:
            creatable_topic._write(put, version)
        put(pack_io(self.timeout_ms, self.validate_only))
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateTopicsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 10)
        self.topics, pos = wire.read_structs(CreatableTopic._read, buf, pos, n, version)
        self.timeout_ms, self.validate_only = unpack_io(buf, pos)
        pos += 5
        if version >= 5:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
