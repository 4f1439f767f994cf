"""DeleteShareGroupOffsetsRequest: request, key 92, versions 0, flexible from 0.

Generated from schemas/kafka/DeleteShareGroupOffsetsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class DeleteShareGroupOffsetsRequestTopic(Struct):
    """Part of DeleteShareGroupOffsetsRequest."""

    __slots__ = ("topic_name",)

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteShareGroupOffsetsRequestTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DeleteShareGroupOffsetsRequest(Message):
    """DeleteShareGroupOffsetsRequest, versions 0."""

    __slots__ = ("group_id", "topics")

    NAME = "DeleteShareGroupOffsetsRequest"
    TYPE = "request"
    API_KEY = 92
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        group_id: str = "",  # string, groupId
        topics: list[DeleteShareGroupOffsetsRequestTopic] = UNSET,  # []DeleteShareGroupOffsetsRequestTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for delete_share_group_offsets_request_topic in self.topics:
            delete_share_group_offsets_request_topic._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteShareGroupOffsetsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.topics, pos = wire.read_structs(DeleteShareGroupOffsetsRequestTopic._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
