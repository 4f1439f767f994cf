"""DeleteShareGroupStateRequest: request, key 86, versions 0, flexible from 0.

Generated from schemas/kafka/DeleteShareGroupStateRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PartitionData(Struct):
    """Part of DeleteShareGroupStateRequest."""

    partition: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Partition", "partition", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.partition))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteStateData(Struct):
    """Part of DeleteShareGroupStateRequest."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[PartitionData] = field(default_factory=list)  # []PartitionData

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partitions", "partitions", "struct", (0, 0), is_array=True, default=[], struct=PartitionData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_data in self.partitions:
            partition_data._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteStateData, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.partitions, pos = wire.read_structs(PartitionData._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteShareGroupStateRequest(Message):
    """DeleteShareGroupStateRequest, versions 0."""

    group_id: str = ""  # string
    topics: list[DeleteStateData] = field(default_factory=list)  # []DeleteStateData

    NAME: ClassVar[str] = "DeleteShareGroupStateRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 86
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (0, 0), default=""),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=DeleteStateData),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.group_id))
        put(wire.compact_count(self.topics))
        for delete_state_data in self.topics:
            delete_state_data._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteShareGroupStateRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.topics, pos = wire.read_structs(DeleteStateData._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
