"""DeleteShareGroupStateRequest: request, key 86, versions 0, flexible from 0.

Generated from schemas/kafka/DeleteShareGroupStateRequest.json.
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


class PartitionData(Struct):
    """Part of DeleteShareGroupStateRequest."""

    __slots__ = ("partition",)

    FIELDS = (
        Field("Partition", "partition", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        partition: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DeleteStateData(Struct):
    """Part of DeleteShareGroupStateRequest."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partitions", "partitions", "struct", (0, 0), is_array=True, default=[], struct=PartitionData),
    )

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[PartitionData] = UNSET,  # []PartitionData
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteStateData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DeleteShareGroupStateRequest(Message):
    """DeleteShareGroupStateRequest, versions 0."""

    __slots__ = ("group_id", "topics")

    NAME = "DeleteShareGroupStateRequest"
    TYPE = "request"
    API_KEY = 86
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 0), default=""),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=DeleteStateData),
    )

    def __init__(
        self,
        group_id: str = "",  # string
        topics: list[DeleteStateData] = UNSET,  # []DeleteStateData
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
        for delete_state_data in self.topics:
            delete_state_data._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteShareGroupStateRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(DeleteStateData._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
