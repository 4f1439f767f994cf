"""AlterReplicaLogDirsResponse: response, key 34, versions 1-2, flexible from 2.

Generated from schemas/kafka/AlterReplicaLogDirsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class AlterReplicaLogDirPartitionResult(Struct):
    """Part of AlterReplicaLogDirsResponse."""

    __slots__ = ("partition_index", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (1, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirPartitionResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AlterReplicaLogDirTopicResult(Struct):
    """Part of AlterReplicaLogDirsResponse."""

    __slots__ = ("topic_name", "partitions")

    FIELDS = (
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

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        partitions: list[AlterReplicaLogDirPartitionResult] = UNSET,  # []AlterReplicaLogDirPartitionResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.topic_name))
        put((wire.compact_count if version >= 2 else wire.count)(self.partitions))
        for alter_replica_log_dir_partition_result in self.partitions:
            alter_replica_log_dir_partition_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirTopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 6)
        self.partitions, pos = wire.read_structs(AlterReplicaLogDirPartitionResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class AlterReplicaLogDirsResponse(Message):
    """AlterReplicaLogDirsResponse, versions 1-2."""

    __slots__ = ("throttle_time_ms", "results")

    NAME = "AlterReplicaLogDirsResponse"
    TYPE = "response"
    API_KEY = 34
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        results: list[AlterReplicaLogDirTopicResult] = UNSET,  # []AlterReplicaLogDirTopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.results))
        for alter_replica_log_dir_topic_result in self.results:
            alter_replica_log_dir_topic_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterReplicaLogDirsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.results, pos = wire.read_structs(AlterReplicaLogDirTopicResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
