"""DeleteTopicsRequest: request, key 20, versions 1-6, flexible from 4.

Generated from schemas/kafka/DeleteTopicsRequest.json.
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


class DeleteTopicState(Struct):
    """Part of DeleteTopicsRequest, v6+."""

    __slots__ = ("name", "topic_id")

    FIELDS = (
        Field("Name", "name", "string", (6, 6), nullable=(6, 6), entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (6, 6), default=Uuid.ZERO),
    )

    def __init__(
        self,
        name: str | None = None,  # string, topicName
        topic_id: Uuid = Uuid.ZERO,  # uuid
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.topic_id = topic_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.name))
        put(wire.uuid(self.topic_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteTopicState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_nullable_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DeleteTopicsRequest(Message):
    """DeleteTopicsRequest, versions 1-6."""

    __slots__ = ("topics", "topic_names", "timeout_ms")

    NAME = "DeleteTopicsRequest"
    TYPE = "request"
    API_KEY = 20
    MIN_VERSION = 1
    MAX_VERSION = 6
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("Topics", "topics", "struct", (6, 6), is_array=True, default=[], struct=DeleteTopicState),
        Field(
            "TopicNames",
            "topic_names",
            "string",
            (1, 5),
            is_array=True,
            default=[],
            ignorable=True,
            entity="topicName",
        ),
        Field("TimeoutMs", "timeout_ms", "int32", (1, 6), default=0),
    )

    def __init__(
        self,
        topics: list[DeleteTopicState] = UNSET,  # []DeleteTopicState, v6+
        topic_names: list[str] = UNSET,  # []string, v1-5, ignorable, topicName
        timeout_ms: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        self.topic_names = [] if topic_names is UNSET else topic_names
        self.timeout_ms = timeout_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 6:
            put(wire.compact_count(self.topics))
            for delete_topic_state in self.topics:
                delete_topic_state._write(put, version)
        elif self.topics:
            raise wire.Unwritable
        if version <= 5:
            put((wire.compact_count if version >= 4 else wire.count)(self.topic_names))
            for text in self.topic_names:
                put((wire.compact_string if version >= 4 else wire.string)(text))
        put(wire.pack_int32(self.timeout_ms))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteTopicsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 6:
            n, pos = wire.read_compact_count(buf, pos, 18)
            self.topics, pos = wire.read_structs(DeleteTopicState._read, buf, pos, n, version)
        else:
            self.topics = []
        if version <= 5:
            n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 1)
            self.topic_names, pos = wire.read_many(wire.read_compact_string if version >= 4 else wire.read_string, buf, pos, n)
        else:
            self.topic_names = []
        (self.timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
