"""DeleteShareGroupOffsetsRequest: request, key 92, versions 0, flexible from 0.

Generated from schemas/kafka/DeleteShareGroupOffsetsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteShareGroupOffsetsRequestTopic(Struct):
    """Part of DeleteShareGroupOffsetsRequest."""

    topic_name: str = ""  # string, topicName

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteShareGroupOffsetsRequestTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteShareGroupOffsetsRequest(Message):
    """DeleteShareGroupOffsetsRequest, versions 0."""

    group_id: str = ""  # string, groupId
    topics: list[DeleteShareGroupOffsetsRequestTopic] = field(default_factory=list)  # []DeleteShareGroupOffsetsRequestTopic

    NAME: ClassVar[str] = "DeleteShareGroupOffsetsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 92
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (0, 0), default="", entity="groupId"),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=DeleteShareGroupOffsetsRequestTopic,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for delete_share_group_offsets_request_topic in self.topics:
            delete_share_group_offsets_request_topic._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteShareGroupOffsetsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.topics, pos = wire.read_structs(DeleteShareGroupOffsetsRequestTopic._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
