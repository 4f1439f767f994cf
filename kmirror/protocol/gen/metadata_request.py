"""MetadataRequest: request, key 3, versions 0-13, flexible from 9.

Generated from schemas/kafka/MetadataRequest.json.
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


class MetadataRequestTopic(Struct):
    """Part of MetadataRequest."""

    __slots__ = ("topic_id", "name")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (10, 13), default=Uuid.ZERO, ignorable=True),
        Field("Name", "name", "string", (0, 13), nullable=(10, 13), default="", entity="topicName"),
    )

    def __init__(
        self,
        # Id of the topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid, v10+, ignorable
        # Name of the topic.
        name: str | None = "",  # string, null in v10+, topicName
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.name = name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 10:
            put(wire.uuid(self.topic_id))
        put((wire.compact_nullable_string if version >= 10 else wire.compact_string if version >= 9 else wire.string)(self.name))
        if version >= 9:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MetadataRequestTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 10:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        self.name, pos = (wire.read_compact_nullable_string if version >= 10 else wire.read_compact_string if version >= 9 else wire.read_string)(buf, pos)
        if version >= 9:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class MetadataRequest(Message):
    """Asks for brokers, and for topics with their leaders."""

    __slots__ = (
        "topics",
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
    )

    NAME = "MetadataRequest"
    TYPE = "request"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 13
    FLEXIBLE_FROM = 9
    FIELDS = (
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

    def __init__(
        self,
        # Which topics; null asks for all, empty for none.
        topics: list[MetadataRequestTopic] | None = UNSET,  # []MetadataRequestTopic, null in v1+
        # Whether topics that do not exist may be created.
        allow_auto_topic_creation: bool = True,  # bool, v4+
        # Whether the answer tells what the caller may do with the cluster.
        include_cluster_authorized_operations: bool = False,  # bool, v8-10
        # Whether the answer tells what the caller may do with the topics.
        include_topic_authorized_operations: bool = False,  # bool, v8+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        self.allow_auto_topic_creation = allow_auto_topic_creation
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.include_topic_authorized_operations = include_topic_authorized_operations
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MetadataRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
