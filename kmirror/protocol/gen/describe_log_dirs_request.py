"""DescribeLogDirsRequest: request, key 35, versions 1-5, flexible from 2.

Generated from schemas/kafka/DescribeLogDirsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribableLogDirTopic(Struct):
    """Part of DescribeLogDirsRequest."""

    topic: str = ""  # string, topicName
    partitions: list[int] = field(default_factory=list)  # []int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topic", "topic", "string", (1, 5), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "int32", (1, 5), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.topic))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        put(wire.numbers(self.partitions, "i"))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribableLogDirTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.partitions, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeLogDirsRequest(Message):
    """DescribeLogDirsRequest, versions 1-5."""

    topics: list[DescribableLogDirTopic] | None = field(default_factory=list)  # []DescribableLogDirTopic

    NAME: ClassVar[str] = "DescribeLogDirsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 35
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_count if version >= 2 else wire.nullable_count)(self.topics))
        for describable_log_dir_topic in self.topics or ():
            describable_log_dir_topic._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeLogDirsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_nullable_count if version >= 2 else wire.read_nullable_count)(buf, pos, 3)
        if n < 0:
            self.topics = None
        else:
            self.topics, pos = wire.read_structs(DescribableLogDirTopic._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
