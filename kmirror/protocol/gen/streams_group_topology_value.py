"""StreamsGroupTopologyValue: coordinator-value, key 23, versions 0, flexible from 0.

Generated from schemas/coordinator/StreamsGroupTopologyValue.json.
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


class TopicConfig(Struct):
    """Part of StreamsGroupTopologyValue."""

    __slots__ = ("key", "value")

    FIELDS = (
        Field("key", "key", "string", (0, 0), default=""),
        Field("value", "value", "string", (0, 0), default=""),
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicConfig, int]:
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
    """Part of StreamsGroupTopologyValue."""

    __slots__ = ("name", "partitions", "replication_factor", "topic_configs")

    FIELDS = (
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

    def __init__(
        self,
        name: str = "",  # string
        partitions: int = 0,  # int32
        replication_factor: int = 0,  # int16
        topic_configs: list[TopicConfig] = UNSET,  # []TopicConfig
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
        for topic_config in self.topic_configs:
            topic_config._write(put, version)
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
        self.topic_configs, pos = wire.read_structs(TopicConfig._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class CopartitionGroup(Struct):
    """Part of StreamsGroupTopologyValue."""

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
    """Part of StreamsGroupTopologyValue."""

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

    def __init__(
        self,
        subtopology_id: str = "",  # string
        source_topics: list[str] = UNSET,  # []string
        source_topic_regex: list[str] = UNSET,  # []string
        state_changelog_topics: list[TopicInfo] = UNSET,  # []TopicInfo
        repartition_sink_topics: list[str] = UNSET,  # []string
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


class StreamsGroupTopologyValue(Message):
    """StreamsGroupTopologyValue, versions 0."""

    __slots__ = ("epoch", "subtopologies")

    NAME = "StreamsGroupTopologyValue"
    TYPE = "coordinator-value"
    API_KEY = 23
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupTopologyValue, int]:
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
