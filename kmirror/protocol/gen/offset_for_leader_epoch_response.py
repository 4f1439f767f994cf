"""OffsetForLeaderEpochResponse: response, key 23, versions 2-4, flexible from 4.

Generated from schemas/kafka/OffsetForLeaderEpochResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_hiiq, pack_hiiq = wire.fused("hiiq")


class EpochEndOffset(Struct):
    """Part of OffsetForLeaderEpochResponse."""

    __slots__ = ("error_code", "partition", "leader_epoch", "end_offset")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (2, 4), default=0),
        Field("Partition", "partition", "int32", (2, 4), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (2, 4), default=-1, ignorable=True),
        Field("EndOffset", "end_offset", "int64", (2, 4), default=-1),
    )

    def __init__(
        self,
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # Partition.
        partition: int = 0,  # int32
        # Leader epoch, -1 if it is not known.
        leader_epoch: int = -1,  # int32, ignorable
        # Offset after the last one.
        end_offset: int = -1,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.partition = partition
        self.leader_epoch = leader_epoch
        self.end_offset = end_offset
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hiiq(self.error_code, self.partition, self.leader_epoch, self.end_offset))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EpochEndOffset, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.error_code,
            self.partition,
            self.leader_epoch,
            self.end_offset,
        ) = unpack_hiiq(buf, pos)
        pos += 18
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetForLeaderTopicResult(Struct):
    """Part of OffsetForLeaderEpochResponse."""

    __slots__ = ("topic", "partitions")

    FIELDS = (
        Field("Topic", "topic", "string", (2, 4), default="", entity="topicName", map_key=True),
        Field("Partitions", "partitions", "struct", (2, 4), is_array=True, default=[], struct=EpochEndOffset),
    )

    def __init__(
        self,
        # Name of the topic.
        topic: str = "",  # string, topicName
        # The partitions.
        partitions: list[EpochEndOffset] = UNSET,  # []EpochEndOffset
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic = topic
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 4 else wire.string)(self.topic))
        put((wire.compact_count if version >= 4 else wire.count)(self.partitions))
        for epoch_end_offset in self.partitions:
            epoch_end_offset._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetForLeaderTopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic, pos = (wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 18)
        self.partitions, pos = wire.read_structs(EpochEndOffset._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class OffsetForLeaderEpochResponse(Message):
    """Where the leader epochs end."""

    __slots__ = ("throttle_time_ms", "topics")

    NAME = "OffsetForLeaderEpochResponse"
    TYPE = "response"
    API_KEY = 23
    MIN_VERSION = 2
    MAX_VERSION = 4
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (2, 4), default=0, ignorable=True),
        Field(
            "Topics",
            "topics",
            "struct",
            (2, 4),
            is_array=True,
            default=[],
            struct=OffsetForLeaderTopicResult,
        ),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, ignorable
        # The topics.
        topics: list[OffsetForLeaderTopicResult] = UNSET,  # []OffsetForLeaderTopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 4 else wire.count)(self.topics))
        for offset_for_leader_topic_result in self.topics:
            offset_for_leader_topic_result._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetForLeaderEpochResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 3)
        self.topics, pos = wire.read_structs(OffsetForLeaderTopicResult._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
