"""TxnOffsetCommitResponse: response, key 28, versions 0-5, flexible from 3.

Generated from schemas/kafka/TxnOffsetCommitResponse.json.
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


class TxnOffsetCommitResponsePartition(Struct):
    """Part of TxnOffsetCommitResponse."""

    __slots__ = ("partition_index", "error_code")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 5), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
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
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitResponsePartition, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition_index, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TxnOffsetCommitResponseTopic(Struct):
    """Part of TxnOffsetCommitResponse."""

    __slots__ = ("name", "partitions")

    FIELDS = (
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

    def __init__(
        self,
        name: str = "",  # string, topicName
        partitions: list[TxnOffsetCommitResponsePartition] = UNSET,  # []TxnOffsetCommitResponsePartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.name))
        put((wire.compact_count if version >= 3 else wire.count)(self.partitions))
        for txn_offset_commit_response_partition in self.partitions:
            txn_offset_commit_response_partition._write(put, version)
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitResponseTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 6)
        self.partitions, pos = wire.read_structs(TxnOffsetCommitResponsePartition._read, buf, pos, n, version)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class TxnOffsetCommitResponse(Message):
    """TxnOffsetCommitResponse, versions 0-5."""

    __slots__ = ("throttle_time_ms", "topics")

    NAME = "TxnOffsetCommitResponse"
    TYPE = "response"
    API_KEY = 28
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 3
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        topics: list[TxnOffsetCommitResponseTopic] = UNSET,  # []TxnOffsetCommitResponseTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 3 else wire.count)(self.topics))
        for txn_offset_commit_response_topic in self.topics:
            txn_offset_commit_response_topic._write(put, version)
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TxnOffsetCommitResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 3 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(TxnOffsetCommitResponseTopic._read, buf, pos, n, version)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
