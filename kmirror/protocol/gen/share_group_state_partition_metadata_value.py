"""ShareGroupStatePartitionMetadataValue: coordinator-value, key 15, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareGroupStatePartitionMetadataValue.json.
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


class TopicPartitionsInfo(Struct):
    """Part of ShareGroupStatePartitionMetadataValue."""

    __slots__ = ("topic_id", "topic_name", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
        Field("Partitions", "partitions", "int32", (0, 0), is_array=True, default=[]),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        topic_name: str = "",  # string
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicPartitionsInfo, int]:
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


class TopicInfo(Struct):
    """Part of ShareGroupStatePartitionMetadataValue."""

    __slots__ = ("topic_id", "topic_name")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        topic_name: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.topic_name = topic_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_string(self.topic_name))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicInfo, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ShareGroupStatePartitionMetadataValue(Message):
    """ShareGroupStatePartitionMetadataValue, versions 0."""

    __slots__ = ("initializing_topics", "initialized_topics", "deleting_topics")

    NAME = "ShareGroupStatePartitionMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "InitializingTopics",
            "initializing_topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicPartitionsInfo,
        ),
        Field(
            "InitializedTopics",
            "initialized_topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicPartitionsInfo,
        ),
        Field(
            "DeletingTopics",
            "deleting_topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=TopicInfo,
        ),
    )

    def __init__(
        self,
        initializing_topics: list[TopicPartitionsInfo] = UNSET,  # []TopicPartitionsInfo
        initialized_topics: list[TopicPartitionsInfo] = UNSET,  # []TopicPartitionsInfo
        deleting_topics: list[TopicInfo] = UNSET,  # []TopicInfo
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.initializing_topics = [] if initializing_topics is UNSET else initializing_topics
        self.initialized_topics = [] if initialized_topics is UNSET else initialized_topics
        self.deleting_topics = [] if deleting_topics is UNSET else deleting_topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.initializing_topics))
        for topic_partitions_info in self.initializing_topics:
            topic_partitions_info._write(put, version)
        put(wire.compact_count(self.initialized_topics))
        for topic_partitions_info in self.initialized_topics:
            topic_partitions_info._write(put, version)
        put(wire.compact_count(self.deleting_topics))
        for topic_info in self.deleting_topics:
            topic_info._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupStatePartitionMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.initializing_topics, pos = wire.read_structs(TopicPartitionsInfo._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.initialized_topics, pos = wire.read_structs(TopicPartitionsInfo._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.deleting_topics, pos = wire.read_structs(TopicInfo._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
