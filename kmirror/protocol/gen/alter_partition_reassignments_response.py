"""AlterPartitionReassignmentsResponse: response, key 45, versions 0-1, flexible from 0.

Generated from schemas/kafka/AlterPartitionReassignmentsResponse.json.
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


class ReassignablePartitionResponse(Struct):
    """Part of AlterPartitionReassignmentsResponse."""

    __slots__ = ("partition_index", "error_code", "error_message")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1), default=""),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_index = partition_index
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_index, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReassignablePartitionResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReassignableTopicResponse(Struct):
    """Part of AlterPartitionReassignmentsResponse."""

    __slots__ = ("name", "partitions")

    FIELDS = (
        Field("Name", "name", "string", (0, 1), default="", entity="topicName"),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=ReassignablePartitionResponse,
        ),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[ReassignablePartitionResponse] = UNSET,  # []ReassignablePartitionResponse
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_count(self.partitions))
        for reassignable_partition_response in self.partitions:
            reassignable_partition_response._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReassignableTopicResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.partitions, pos = wire.read_structs(ReassignablePartitionResponse._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterPartitionReassignmentsResponse(Message):
    """AlterPartitionReassignmentsResponse, versions 0-1."""

    __slots__ = (
        "throttle_time_ms",
        "allow_replication_factor_change",
        "error_code",
        "error_message",
        "responses",
    )

    NAME = "AlterPartitionReassignmentsResponse"
    TYPE = "response"
    API_KEY = 45
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 1), default=0),
        Field(
            "AllowReplicationFactorChange",
            "allow_replication_factor_change",
            "bool",
            (1, 1),
            default=True,
            ignorable=True,
        ),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1), default=""),
        Field(
            "Responses",
            "responses",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=ReassignableTopicResponse,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        allow_replication_factor_change: bool = True,  # bool, v1+, ignorable
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        responses: list[ReassignableTopicResponse] = UNSET,  # []ReassignableTopicResponse
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.allow_replication_factor_change = allow_replication_factor_change
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is UNSET else responses
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 1:
            put(wire.pack_bool(self.allow_replication_factor_change))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.responses))
        for reassignable_topic_response in self.responses:
            reassignable_topic_response._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterPartitionReassignmentsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 1:
            (self.allow_replication_factor_change,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.allow_replication_factor_change = True
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.responses, pos = wire.read_structs(ReassignableTopicResponse._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
