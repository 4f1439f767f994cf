"""CreateTopicsResponse: response, key 19, versions 2-8, flexible from 5.

Generated from schemas/kafka/CreateTopicsResponse.json and schemas/mirroring/CreateTopicsResponse.json.
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

unpack_obo, pack_obo = wire.fused("?b?")
unpack_ih, pack_ih = wire.fused("ih")


class CreatableTopicConfigs(Struct):
    """Part of CreateTopicsResponse, v5+."""

    __slots__ = ("name", "value", "read_only", "config_source", "is_sensitive")

    FIELDS = (
        Field("Name", "name", "string", (5, 8), default=""),
        Field("Value", "value", "string", (5, 8), nullable=(5, 8), default=""),
        Field("ReadOnly", "read_only", "bool", (5, 8), default=False),
        Field("ConfigSource", "config_source", "int8", (5, 8), default=-1, ignorable=True),
        Field("IsSensitive", "is_sensitive", "bool", (5, 8), default=False),
    )

    def __init__(
        self,
        name: str = "",  # string
        value: str | None = "",  # string
        read_only: bool = False,  # bool
        config_source: int = -1,  # int8, ignorable
        is_sensitive: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_nullable_string(self.value))
        put(pack_obo(self.read_only, self.config_source, self.is_sensitive))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableTopicConfigs, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_nullable_string(buf, pos)
        self.read_only, self.config_source, self.is_sensitive = unpack_obo(buf, pos)
        pos += 3
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class CreatableTopicResult(Struct):
    """Part of CreateTopicsResponse."""

    __slots__ = (
        "name",
        "topic_id",
        "error_code",
        "error_message",
        "num_partitions",
        "replication_factor",
        "configs",
    )

    topic_config_error_code = Tagged[int]("topic_config_error_code", 0)

    FIELDS = (
        Field("Name", "name", "string", (2, 8), default="", entity="topicName", map_key=True),
        Field("TopicId", "topic_id", "uuid", (7, 8), default=Uuid.ZERO, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (2, 8), default=0),
        Field("ErrorMessage", "error_message", "string", (2, 8), nullable=(2, 8), default="", ignorable=True),
        Field(
            "TopicConfigErrorCode",
            "topic_config_error_code",
            "int16",
            (5, 8),
            tagged=(5, 8),
            tag=0,
            default=0,
            ignorable=True,
        ),
        Field("NumPartitions", "num_partitions", "int32", (5, 8), default=-1, ignorable=True),
        Field("ReplicationFactor", "replication_factor", "int16", (5, 8), default=-1, ignorable=True),
        Field(
            "Configs",
            "configs",
            "struct",
            (5, 8),
            is_array=True,
            nullable=(5, 8),
            default=[],
            ignorable=True,
            struct=CreatableTopicConfigs,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        topic_id: Uuid = Uuid.ZERO,  # uuid, v7+, ignorable
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string, ignorable
        topic_config_error_code: int = 0,  # int16, v5+, tag 0, ignorable
        num_partitions: int = -1,  # int32, v5+, ignorable
        replication_factor: int = -1,  # int16, v5+, ignorable
        configs: list[CreatableTopicConfigs] | None = UNSET,  # []CreatableTopicConfigs, v5+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        self.num_partitions = num_partitions
        self.replication_factor = replication_factor
        self.configs = [] if configs is UNSET else configs
        if topic_config_error_code != 0:
            self.topic_config_error_code = topic_config_error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 5 else wire.string)(self.name))
        if version >= 7:
            put(wire.uuid(self.topic_id))
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 5 else wire.nullable_string)(self.error_message))
        if version >= 5:
            put(pack_ih(self.num_partitions, self.replication_factor))
        if version >= 5:
            put(wire.compact_nullable_count(self.configs))
            for creatable_topic_configs in self.configs or ():
                creatable_topic_configs._write(put, version)
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "topic_config_error_code" in tagged and tagged["topic_config_error_code"]:
            tags.append(wire.tag(0, wire.pack_int16(tagged["topic_config_error_code"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableTopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 5 else wire.read_string)(buf, pos)
        if version >= 7:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 5 else wire.read_nullable_string)(buf, pos)
        if version >= 5:
            self.num_partitions, self.replication_factor = unpack_ih(buf, pos)
            pos += 6
        else:
            self.num_partitions = -1
            self.replication_factor = -1
        if version >= 5:
            n, pos = wire.read_compact_nullable_count(buf, pos, 6)
            if n < 0:
                self.configs = None
            else:
                self.configs, pos = wire.read_structs(CreatableTopicConfigs._read, buf, pos, n, version)
        else:
            self.configs = []
        if version >= 5:
            pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["topic_config_error_code"],) = wire.unpack_int16(buf, pos)
                pos += 2
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos


class CreateTopicsResponse(Message):
    """CreateTopicsResponse, versions 2-8."""

    __slots__ = ("throttle_time_ms", "topics")

    NAME = "CreateTopicsResponse"
    TYPE = "response"
    API_KEY = 19
    MIN_VERSION = 2
    MAX_VERSION = 8
    FLEXIBLE_FROM = 5
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (2, 8), default=0, ignorable=True),
        Field("Topics", "topics", "struct", (2, 8), is_array=True, default=[], struct=CreatableTopicResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32, ignorable
        topics: list[CreatableTopicResult] = UNSET,  # []CreatableTopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 5 else wire.count)(self.topics))
        for creatable_topic_result in self.topics:
            creatable_topic_result._write(put, version)
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateTopicsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 6)
        self.topics, pos = wire.read_structs(CreatableTopicResult._read, buf, pos, n, version)
        if version >= 5:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
