"""StreamsGroupTopologyValue: coordinator-value, key 23, versions 0, flexible from 0.

Generated from schemas/coordinator/StreamsGroupTopologyValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicConfig(Struct):
    """Part of StreamsGroupTopologyValue."""

    key: str = ""  # string
    value: str = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("key", "key", "string", (0, 0), default=""),
        Field("value", "value", "string", (0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.key))
        put(wire.compact_string(self.value))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicConfig, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.key, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TopicInfo(Struct):
    """Part of StreamsGroupTopologyValue."""

    name: str = ""  # string
    partitions: int = 0  # int32
    replication_factor: int = 0  # int16
    topic_configs: list[TopicConfig] = field(default_factory=list)  # []TopicConfig

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Partitions", "partitions", "int32", (0, 0), default=0),
        Field("ReplicationFactor", "replication_factor", "int16", (0, 0), default=0),
        Field(
            "TopicConfigs",
            "topic_configs",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicConfig,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(pack_ih(self.partitions, self.replication_factor))
        put(wire.compact_count(self.topic_configs))
        for topic_config in self.topic_configs:
            topic_config._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicInfo, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        self.partitions, self.replication_factor = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.topic_configs, pos = wire.read_structs(TopicConfig._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CopartitionGroup(Struct):
    """Part of StreamsGroupTopologyValue."""

    source_topics: list[int] = field(default_factory=list)  # []int16
    source_topic_regex: list[int] = field(default_factory=list)  # []int16
    repartition_source_topics: list[int] = field(default_factory=list)  # []int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.source_topics))
        put(wire.numbers(self.source_topics, "h"))
        put(wire.compact_count(self.source_topic_regex))
        put(wire.numbers(self.source_topic_regex, "h"))
        put(wire.compact_count(self.repartition_source_topics))
        put(wire.numbers(self.repartition_source_topics, "h"))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CopartitionGroup, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.source_topics, pos = wire.read_numbers(buf, pos, n, "h", 2)
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.source_topic_regex, pos = wire.read_numbers(buf, pos, n, "h", 2)
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.repartition_source_topics, pos = wire.read_numbers(buf, pos, n, "h", 2)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Subtopology(Struct):
    """Part of StreamsGroupTopologyValue."""

    subtopology_id: str = ""  # string
    source_topics: list[str] = field(default_factory=list)  # []string
    source_topic_regex: list[str] = field(default_factory=list)  # []string
    state_changelog_topics: list[TopicInfo] = field(default_factory=list)  # []TopicInfo
    repartition_sink_topics: list[str] = field(default_factory=list)  # []string
    repartition_source_topics: list[TopicInfo] = field(default_factory=list)  # []TopicInfo
    copartition_groups: list[CopartitionGroup] = field(default_factory=list)  # []CopartitionGroup

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("SubtopologyId", "subtopology_id", "string", (0, 0), default=""),
        Field("SourceTopics", "source_topics", "string", (0, 0), is_array=True, default=[]),
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
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Subtopology, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class StreamsGroupTopologyValue(Message):
    """StreamsGroupTopologyValue, versions 0."""

    epoch: int = 0  # int32
    subtopologies: list[Subtopology] = field(default_factory=list)  # []Subtopology

    NAME: ClassVar[str] = "StreamsGroupTopologyValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 23
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.epoch))
        put(wire.compact_count(self.subtopologies))
        for subtopology in self.subtopologies:
            subtopology._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupTopologyValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.subtopologies, pos = wire.read_structs(Subtopology._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
