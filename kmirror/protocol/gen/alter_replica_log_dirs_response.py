"""AlterReplicaLogDirsResponse: response, key 34, versions 1-2, flexible from 2.

Generated from schemas/kafka/AlterReplicaLogDirsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterReplicaLogDirPartitionResult(Struct):
    """Part of AlterReplicaLogDirsResponse."""

    partition_index: int = 0  # int32
    error_code: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PartitionIndex", "partition_index", "int32", (1, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirPartitionResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterReplicaLogDirTopicResult(Struct):
    """Part of AlterReplicaLogDirsResponse."""

    topic_name: str = ""  # string, topicName
    partitions: list[AlterReplicaLogDirPartitionResult] = field(default_factory=list)  # []AlterReplicaLogDirPartitionResult

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TopicName", "topic_name", "string", (1, 2), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=AlterReplicaLogDirPartitionResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.topic_name))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        for alter_replica_log_dir_partition_result in self.partitions:
            alter_replica_log_dir_partition_result._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirTopicResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.topic_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 6)
        self.partitions, pos = wire.read_structs(AlterReplicaLogDirPartitionResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterReplicaLogDirsResponse(Message):
    """AlterReplicaLogDirsResponse, versions 1-2."""

    throttle_time_ms: int = 0  # int32
    results: list[AlterReplicaLogDirTopicResult] = field(default_factory=list)  # []AlterReplicaLogDirTopicResult

    NAME: ClassVar[str] = "AlterReplicaLogDirsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 34
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 2), default=0),
        Field(
            "Results",
            "results",
            "struct",
            (1, 2),
            is_array=True,
            default=[],
            struct=AlterReplicaLogDirTopicResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.results))
        for alter_replica_log_dir_topic_result in self.results:
            alter_replica_log_dir_topic_result._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.results, pos = wire.read_structs(AlterReplicaLogDirTopicResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
