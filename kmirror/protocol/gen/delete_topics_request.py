"""DeleteTopicsRequest: request, key 20, versions 1-6, flexible from 4.

Generated from schemas/kafka/DeleteTopicsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteTopicState(Struct):
    """Part of DeleteTopicsRequest, v6+."""

    name: str | None = None  # string, topicName
    topic_id: Uuid = Uuid.ZERO  # uuid

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (6, 6), nullable=(6, 6), entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (6, 6), default=Uuid.ZERO),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.name))
        put(wire.uuid(self.topic_id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteTopicState, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_nullable_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteTopicsRequest(Message):
    """DeleteTopicsRequest, versions 1-6."""

    topics: list[DeleteTopicState] = field(default_factory=list)  # []DeleteTopicState, v6+
    topic_names: list[str] = field(default_factory=list)  # []string, v1-5, ignorable, topicName
    timeout_ms: int = 0  # int32

    NAME: ClassVar[str] = "DeleteTopicsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 20
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
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
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteTopicsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
