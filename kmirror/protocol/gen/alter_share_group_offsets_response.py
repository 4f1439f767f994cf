"""AlterShareGroupOffsetsResponse: response, key 91, versions 0, flexible from 0.

Generated from schemas/kafka/AlterShareGroupOffsetsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterShareGroupOffsetsResponsePartition(Struct):
    """Part of AlterShareGroupOffsetsResponse."""

    partition_index: int = 0  # int32
    error_code: int = 0  # int16
    error_message: str | None = None  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsResponsePartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterShareGroupOffsetsResponseTopic(Struct):
    """Part of AlterShareGroupOffsetsResponse."""

    topic_name: str = ""  # string, topicName
    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[AlterShareGroupOffsetsResponsePartition] = field(default_factory=list)  # []AlterShareGroupOffsetsResponsePartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName", map_key=True),
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=AlterShareGroupOffsetsResponsePartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for alter_share_group_offsets_response_partition in self.partitions:
            alter_share_group_offsets_response_partition._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsResponseTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.partitions, pos = wire.read_structs(AlterShareGroupOffsetsResponsePartition._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterShareGroupOffsetsResponse(Message):
    """AlterShareGroupOffsetsResponse, versions 0."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    error_message: str | None = None  # string
    responses: list[AlterShareGroupOffsetsResponseTopic] = field(default_factory=list)  # []AlterShareGroupOffsetsResponseTopic

    NAME: ClassVar[str] = "AlterShareGroupOffsetsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 91
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field(
            "Responses",
            "responses",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=AlterShareGroupOffsetsResponseTopic,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.responses))
        for alter_share_group_offsets_response_topic in self.responses:
            alter_share_group_offsets_response_topic._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.responses, pos = wire.read_structs(AlterShareGroupOffsetsResponseTopic._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
