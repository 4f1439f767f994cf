"""DescribeLogDirsRequest: request, key 35, versions 1-5, flexible from 2.

Generated from schemas/kafka/DescribeLogDirsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class DescribableLogDirTopic(Struct):
    """Part of DescribeLogDirsRequest."""

    __slots__ = ("topic", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (1, 5), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (1, 5), is_array=True, default=[]),
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
        put((wire.compact_string if version >= 2 else wire.string)(self.topic))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribableLogDirTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeLogDirsRequest(Message):
    """DescribeLogDirsRequest, versions 1-5."""

    __slots__ = ("topics",)

    NAME = "DescribeLogDirsRequest"
    TYPE = "request"
    API_KEY = 35
    MIN_VERSION = 1
    MAX_VERSION = 5
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field(
            "Topics",
            "topics",
            "struct",
            (1, 5),
            is_array=True,
            nullable=(1, 5),
            default=[],
            struct=DescribableLogDirTopic,
        ),
    )

    def __init__(
        self,
        topics: list[DescribableLogDirTopic] | None = UNSET,  # []DescribableLogDirTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_count if version >= 2 else wire.nullable_count)(self.topics))
        for describable_log_dir_topic in self.topics or ():
            describable_log_dir_topic._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_nullable_count if version >= 2 else wire.read_nullable_count)(buf, pos, 3)
        if n < 0:
            self.topics = None
        else:
            self.topics, pos = wire.read_structs(DescribableLogDirTopic._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
