"""ReadShareGroupStateSummaryResponse: response, key 87, versions 0-1, flexible from 0.

Generated from schemas/kafka/ReadShareGroupStateSummaryResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")
unpack_iiq, pack_iiq = wire.fused("iiq")


class PartitionResult(Struct):
    """Part of ReadShareGroupStateSummaryResponse."""

    __slots__ = (
        "partition",
        "error_code",
        "error_message",
        "state_epoch",
        "leader_epoch",
        "start_offset",
        "delivery_complete_count",
    )

    FIELDS = (
        Field("Partition", "partition", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1)),
        Field("StateEpoch", "state_epoch", "int32", (0, 1), default=0),
        Field("LeaderEpoch", "leader_epoch", "int32", (0, 1), default=0),
        Field("StartOffset", "start_offset", "int64", (0, 1), default=0),
        Field(
            "DeliveryCompleteCount",
            "delivery_complete_count",
            "int32",
            (1, 1),
            default=-1,
            ignorable=True,
        ),
    )

    def __init__(
        self,
        partition: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        state_epoch: int = 0,  # int32
        leader_epoch: int = 0,  # int32
        start_offset: int = 0,  # int64
        delivery_complete_count: int = -1,  # int32, v1+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.leader_epoch = leader_epoch
        self.start_offset = start_offset
        self.delivery_complete_count = delivery_complete_count
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(pack_iiq(self.state_epoch, self.leader_epoch, self.start_offset))
        if version >= 1:
            put(wire.pack_int32(self.delivery_complete_count))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PartitionResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.partition, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        self.state_epoch, self.leader_epoch, self.start_offset = unpack_iiq(buf, pos)
        pos += 16
        if version >= 1:
            (self.delivery_complete_count,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.delivery_complete_count = -1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReadStateSummaryResult(Struct):
    """Part of ReadShareGroupStateSummaryResponse."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
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

    def __init__(
        self,
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[PartitionResult] = UNSET,  # []PartitionResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for partition_result in self.partitions:
            partition_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReadStateSummaryResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 24)
        self.partitions, pos = wire.read_structs(PartitionResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReadShareGroupStateSummaryResponse(Message):
    """ReadShareGroupStateSummaryResponse, versions 0-1."""

    __slots__ = ("results",)

    NAME = "ReadShareGroupStateSummaryResponse"
    TYPE = "response"
    API_KEY = 87
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "Results",
            "results",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=ReadStateSummaryResult,
        ),
    )

    def __init__(
        self,
        results: list[ReadStateSummaryResult] = UNSET,  # []ReadStateSummaryResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.results))
        for read_state_summary_result in self.results:
            read_state_summary_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReadShareGroupStateSummaryResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.results, pos = wire.read_structs(ReadStateSummaryResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
