"""ElectLeadersResponse: response, key 43, versions 0-2, flexible from 2.

Generated from schemas/kafka/ElectLeadersResponse.json.
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


class PartitionResult(Struct):
    """Part of ElectLeadersResponse."""

    __slots__ = ("partition_id", "error_code", "error_message")

    FIELDS = (
        Field("PartitionId", "partition_id", "int32", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 2), nullable=(0, 2), default=""),
    )

    def __init__(
        self,
        partition_id: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition_id = partition_id
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition_id, self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_id, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ReplicaElectionResult(Struct):
    """Part of ElectLeadersResponse."""

    __slots__ = ("topic", "partition_result")

    FIELDS = (
        Field("Topic", "topic", "string", (0, 2), default="", entity="topicName"),
        Field(
            "PartitionResult",
            "partition_result",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=PartitionResult,
        ),
    )

    def __init__(
        self,
        topic: str = "",  # string, topicName
        partition_result: list[PartitionResult] = UNSET,  # []PartitionResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic = topic
        self.partition_result = [] if partition_result is UNSET else partition_result
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.topic))
        put((wire.compact_count if version >= 2 else wire.count)(self.partition_result))
        for partition_result in self.partition_result:
            partition_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReplicaElectionResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 8)
        self.partition_result, pos = wire.read_structs(PartitionResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class ElectLeadersResponse(Message):
    """ElectLeadersResponse, versions 0-2."""

    __slots__ = ("throttle_time_ms", "error_code", "replica_election_results")

    NAME = "ElectLeadersResponse"
    TYPE = "response"
    API_KEY = 43
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
        Field(
            "ReplicaElectionResults",
            "replica_election_results",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=ReplicaElectionResult,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16, v1+
        replica_election_results: list[ReplicaElectionResult] = UNSET,  # []ReplicaElectionResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.replica_election_results = [] if replica_election_results is UNSET else replica_election_results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 1:
            put(wire.pack_int16(self.error_code))
        elif self.error_code:
            raise wire.Unwritable
        put((wire.compact_count if version >= 2 else wire.count)(self.replica_election_results))
        for replica_election_result in self.replica_election_results:
            replica_election_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ElectLeadersResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 1:
            (self.error_code,) = wire.unpack_int16(buf, pos)
            pos += 2
        else:
            self.error_code = 0
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.replica_election_results, pos = wire.read_structs(ReplicaElectionResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
