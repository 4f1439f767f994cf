"""TxnOffsetCommitResponse: response, key 28, versions 0-5, flexible from 3.

Generated from schemas/kafka/TxnOffsetCommitResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TxnOffsetCommitResponsePartition(Struct):
    """Part of TxnOffsetCommitResponse."""

    partition_index: int = 0  # int32
    error_code: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (0, 5), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitResponsePartition, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TxnOffsetCommitResponseTopic(Struct):
    """Part of TxnOffsetCommitResponse."""

    name: str = ""  # string, topicName
    partitions: list[TxnOffsetCommitResponsePartition] = field(default_factory=list)  # []TxnOffsetCommitResponsePartition

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 5), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 5),
            is_array=True,
            default=[],
            struct=TxnOffsetCommitResponsePartition,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.name))
        put((wire.compact_count if version >= 3 else wire.count)(self.partitions))
        for txn_offset_commit_response_partition in self.partitions:
            txn_offset_commit_response_partition._write(put, version)
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitResponseTopic, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 6)
        self.partitions, pos = wire.read_structs(TxnOffsetCommitResponsePartition._read, buf, pos, n, version)
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class TxnOffsetCommitResponse(Message):
    """TxnOffsetCommitResponse, versions 0-5."""

    throttle_time_ms: int = 0  # int32
    topics: list[TxnOffsetCommitResponseTopic] = field(default_factory=list)  # []TxnOffsetCommitResponseTopic

    NAME: ClassVar[str] = "TxnOffsetCommitResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 28
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 5), default=0),
        Field(
            "Topics",
            "topics",
            "struct",
            (0, 5),
            is_array=True,
            default=[],
            struct=TxnOffsetCommitResponseTopic,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 3 else wire.count)(self.topics))
        for txn_offset_commit_response_topic in self.topics:
            txn_offset_commit_response_topic._write(put, version)
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(TxnOffsetCommitResponseTopic._read, buf, pos, n, version)
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
