"""WriteShareGroupStateResponse: response, key 85, versions 0-1, flexible from 0.

Generated from schemas/kafka/WriteShareGroupStateResponse.json.
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
class PartitionResult(Struct):
    """Part of WriteShareGroupStateResponse."""

    partition: int = 0  # int32
    error_code: int = 0  # int16
    error_message: str | None = None  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Partition", "partition", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1)),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WriteStateResult(Struct):
    """Part of WriteShareGroupStateResponse."""

    topic_id: Uuid = Uuid.ZERO  # uuid
    partitions: list[PartitionResult] = field(default_factory=list)  # []PartitionResult

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicId", "topic_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=PartitionResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_result in self.partitions:
            partition_result._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteStateResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.partitions, pos = wire.read_structs(PartitionResult._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class WriteShareGroupStateResponse(Message):
    """WriteShareGroupStateResponse, versions 0-1."""

    results: list[WriteStateResult] = field(default_factory=list)  # []WriteStateResult

    NAME: ClassVar[str] = "WriteShareGroupStateResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 85
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Results", "results", "struct", (0, 1), is_array=True, default=[], struct=WriteStateResult),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.results))
        for write_state_result in self.results:
            write_state_result._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteShareGroupStateResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.results, pos = wire.read_structs(WriteStateResult._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
