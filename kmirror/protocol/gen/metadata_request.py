"""MetadataRequest: request, key 3, versions 0-13, flexible from 9.

Generated from schemas/kafka/MetadataRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class MetadataRequestTopic(Struct):
    """Part of MetadataRequest."""

    topic_id: Uuid = Uuid.ZERO  # uuid, v10+, ignorable
    name: str | None = ""  # string, null in v10+, topicName

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (10, 13), default=Uuid.ZERO, ignorable=True),
        Field("Name", "name", "string", (0, 13), nullable=(10, 13), default="", entity="topicName"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 10:
            put(wire.uuid(self.topic_id))
        put((wire.compact_nullable_string if version >= 10 else wire.compact_string if version >= 9 else wire.string)(self.name))
        if version >= 9:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MetadataRequestTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version >= 10:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        self.name, pos = (wire.read_compact_nullable_string if version >= 10 else wire.read_compact_string if version >= 9 else wire.read_string)(buf, pos)
        if version >= 9:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class MetadataRequest(Message):
    """MetadataRequest, versions 0-13."""

    topics: list[MetadataRequestTopic] | None = field(default_factory=list)  # []MetadataRequestTopic, null in v1+
    allow_auto_topic_creation: bool = True  # bool, v4+
    include_cluster_authorized_operations: bool = False  # bool, v8-10
    include_topic_authorized_operations: bool = False  # bool, v8+

    NAME: ClassVar[str] = "MetadataRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 3
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 13
    FLEXIBLE_FROM: ClassVar[int | None] = 9
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 13),
            is_array=True,
            nullable=(1, 13),
            default=[],
            struct=MetadataRequestTopic,
        ),
        Field("AllowAutoTopicCreation", "allow_auto_topic_creation", "bool", (4, 13), default=True),
        Field(
            "IncludeClusterAuthorizedOperations",
            "include_cluster_authorized_operations",
            "bool",
            (8, 10),
            default=False,
        ),
        Field(
            "IncludeTopicAuthorizedOperations",
            "include_topic_authorized_operations",
            "bool",
            (8, 13),
            default=False,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_count if version >= 9 else wire.nullable_count if version >= 1 else wire.count)(self.topics))
        for metadata_request_topic in self.topics or ():
            metadata_request_topic._write(put, version)
        if version >= 4:
            put(wire.pack_bool(self.allow_auto_topic_creation))
        elif not self.allow_auto_topic_creation:
            raise wire.Unwritable
        if 8 <= version <= 10:
            put(wire.pack_bool(self.include_cluster_authorized_operations))
        elif self.include_cluster_authorized_operations:
            raise wire.Unwritable
        if version >= 8:
            put(wire.pack_bool(self.include_topic_authorized_operations))
        elif self.include_topic_authorized_operations:
            raise wire.Unwritable
        if version >= 9:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MetadataRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_nullable_count if version >= 9 else wire.read_nullable_count if version >= 1 else wire.read_count)(buf, pos, 2)
        if n < 0:
            self.topics = None
        else:
            self.topics, pos = wire.read_structs(MetadataRequestTopic._read, buf, pos, n, version)
        if version >= 4:
            (self.allow_auto_topic_creation,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.allow_auto_topic_creation = True
        if 8 <= version <= 10:
            (self.include_cluster_authorized_operations,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.include_cluster_authorized_operations = False
        if version >= 8:
            (self.include_topic_authorized_operations,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.include_topic_authorized_operations = False
        if version >= 9:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
