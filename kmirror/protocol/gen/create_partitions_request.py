"""CreatePartitionsRequest: request, key 37, versions 0-3, flexible from 2.

Generated from schemas/kafka/CreatePartitionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_io, pack_io = wire.fused("i?")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreatePartitionsAssignment(Struct):
    """Part of CreatePartitionsRequest."""

    broker_ids: list[int] = field(default_factory=list)  # []int32, brokerId

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("BrokerIds", "broker_ids", "int32", (0, 3), is_array=True, default=[], entity="brokerId"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.broker_ids))
        put(wire.numbers(self.broker_ids, "i"))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatePartitionsAssignment, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.broker_ids, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreatePartitionsTopic(Struct):
    """Part of CreatePartitionsRequest."""

    name: str = ""  # string, topicName
    count: int = 0  # int32
    assignments: list[CreatePartitionsAssignment] | None = field(default_factory=list)  # []CreatePartitionsAssignment

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 3), default="", entity="topicName", map_key=True),
        Field("Count", "count", "int32", (0, 3), default=0),
        Field(
            "Assignments",
            "assignments",
            "struct",
            (0, 3),
            is_array=True,
            nullable=(0, 3),
            default=[],
            struct=CreatePartitionsAssignment,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put(wire.pack_int32(self.count))
        put((wire.compact_nullable_count if version >= 2 else wire.nullable_count)(self.assignments))
        for create_partitions_assignment in self.assignments or ():
            create_partitions_assignment._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatePartitionsTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        (self.count,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_nullable_count if version >= 2 else wire.read_nullable_count)(buf, pos, 2)
        if n < 0:
            self.assignments = None
        else:
            self.assignments, pos = wire.read_structs(CreatePartitionsAssignment._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreatePartitionsRequest(Message):
    """CreatePartitionsRequest, versions 0-3."""

    topics: list[CreatePartitionsTopic] = field(default_factory=list)  # []CreatePartitionsTopic
    timeout_ms: int = 0  # int32
    validate_only: bool = False  # bool

    NAME: ClassVar[str] = "CreatePartitionsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 37
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "struct", (0, 3), is_array=True, default=[], struct=CreatePartitionsTopic),
        Field("TimeoutMs", "timeout_ms", "int32", (0, 3), default=0),
        Field("ValidateOnly", "validate_only", "bool", (0, 3), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for create_partitions_topic in self.topics:
            create_partitions_topic._write(put, version)
        put(pack_io(self.timeout_ms, self.validate_only))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatePartitionsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 7)
        self.topics, pos = wire.read_structs(CreatePartitionsTopic._read, buf, pos, n, version)
        self.timeout_ms, self.validate_only = unpack_io(buf, pos)
        pos += 5
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
