"""ResumeMirrorTopicsRequest: request, key 103, versions 0, flexible from 0.

Generated from schemas/mirroring/ResumeMirrorTopicsRequest.json.
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


class TopicData(Struct):
    """Part of ResumeMirrorTopicsRequest."""

    __slots__ = ("topic_id", "topic_name")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName", map_key=True),
    )

    def __init__(
        self,
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid
        # Name of the topic.
        topic_name: str = "",  # string, topicName
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ResumeMirrorTopicsRequest(Message):
    """Goes on with paused topics from where they stand."""

    __slots__ = ("mirror_name", "topics")

    NAME = "ResumeMirrorTopicsRequest"
    TYPE = "request"
    API_KEY = 103
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicData),
    )

    def __init__(
        self,
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        # The topics that are meant.
        topics: list[TopicData] = UNSET,  # []TopicData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_name = mirror_name
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        put(wire.compact_count(self.topics))
        for topic_data in self.topics:
            topic_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ResumeMirrorTopicsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(TopicData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
