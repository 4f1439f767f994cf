"""CreatePartitionsRequest: request, key 37, versions 0-3, flexible from 2.

Generated from schemas/kafka/CreatePartitionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_io, pack_io = wire.fused("i?")


class CreatePartitionsAssignment(Struct):
    """Part of CreatePartitionsRequest."""

    __slots__ = ("broker_ids",)

    FIELDS = (
        Field("BrokerIds", "broker_ids", "int32", (0, 3), is_array=True, default=[], entity="brokerId"),
    )

    def __init__(
        self,
        broker_ids: list[int] = UNSET,  # []int32, brokerId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_ids = [] if broker_ids is UNSET else broker_ids
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.broker_ids))
        put(wire.numbers(self.broker_ids, "i"))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatePartitionsAssignment, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.broker_ids, pos = wire.read_numbers(buf, pos, n, "i", 4)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class CreatePartitionsTopic(Struct):
    """Part of CreatePartitionsRequest."""

    __slots__ = ("name", "count", "assignments")

    FIELDS = (
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

    def __init__(
        self,
        name: str = "",  # string, topicName
        count: int = 0,  # int32
        assignments: list[CreatePartitionsAssignment] | None = UNSET,  # []CreatePartitionsAssignment
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.count = count
        self.assignments = [] if assignments is UNSET else assignments
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put(wire.pack_int32(self.count))
        put((wire.compact_nullable_count if version >= 2 else wire.nullable_count)(self.assignments))
        for create_partitions_assignment in self.assignments or ():
            create_partitions_assignment._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatePartitionsTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class CreatePartitionsRequest(Message):
    """CreatePartitionsRequest, versions 0-3."""

    __slots__ = ("topics", "timeout_ms", "validate_only")

    NAME = "CreatePartitionsRequest"
    TYPE = "request"
    API_KEY = 37
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("Topics", "topics", "struct", (0, 3), is_array=True, default=[], struct=CreatePartitionsTopic),
        Field("TimeoutMs", "timeout_ms", "int32", (0, 3), default=0),
        Field("ValidateOnly", "validate_only", "bool", (0, 3), default=False),
    )

    def __init__(
        self,
        topics: list[CreatePartitionsTopic] = UNSET,  # []CreatePartitionsTopic
        timeout_ms: int = 0,  # int32
        validate_only: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        self.timeout_ms = timeout_ms
        self.validate_only = validate_only
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.topics))
        for create_partitions_topic in self.topics:
            create_partitions_topic._write(put, version)
        put(pack_io(self.timeout_ms, self.validate_only))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatePartitionsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 7)
        self.topics, pos = wire.read_structs(CreatePartitionsTopic._read, buf, pos, n, version)
        self.timeout_ms, self.validate_only = unpack_io(buf, pos)
        pos += 5
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
