"""ReadShareGroupStateResponse: response, key 84, versions 0, flexible from 0.

Generated from schemas/kafka/ReadShareGroupStateResponse.json.
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
unpack_iq, pack_iq = wire.fused("iq")
unpack_qqbh, pack_qqbh = wire.fused("qqbh")


class StateBatch(Struct):
    """Part of ReadShareGroupStateResponse."""

    __slots__ = ("first_offset", "last_offset", "delivery_state", "delivery_count")

    FIELDS = (
        Field("FirstOffset", "first_offset", "int64", (0, 0), default=0),
        Field("LastOffset", "last_offset", "int64", (0, 0), default=0),
        Field("DeliveryState", "delivery_state", "int8", (0, 0), default=0),
        Field("DeliveryCount", "delivery_count", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        first_offset: int = 0,  # int64
        last_offset: int = 0,  # int64
        delivery_state: int = 0,  # int8
        delivery_count: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.delivery_state = delivery_state
        self.delivery_count = delivery_count
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_qqbh(self.first_offset, self.last_offset, self.delivery_state, self.delivery_count))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StateBatch, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.first_offset,
            self.last_offset,
            self.delivery_state,
            self.delivery_count,
        ) = unpack_qqbh(buf, pos)
        pos += 19
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class PartitionResult(Struct):
    """Part of ReadShareGroupStateResponse."""

    __slots__ = ("partition", "error_code", "error_message", "state_epoch", "start_offset", "state_batches")

    FIELDS = (
        Field("Partition", "partition", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field("StateEpoch", "state_epoch", "int32", (0, 0), default=0),
        Field("StartOffset", "start_offset", "int64", (0, 0), default=0),
        Field(
            "StateBatches",
            "state_batches",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=StateBatch,
        ),
    )

    def __init__(
        self,
        partition: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        state_epoch: int = 0,  # int32
        start_offset: int = 0,  # int64
        state_batches: list[StateBatch] = UNSET,  # []StateBatch
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        self.state_epoch = state_epoch
        self.start_offset = start_offset
        self.state_batches = [] if state_batches is UNSET else state_batches
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(pack_iq(self.state_epoch, self.start_offset))
        put(wire.compact_count(self.state_batches))
        for state_batch in self.state_batches:
            state_batch._write(put, version)
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
        self.state_epoch, self.start_offset = unpack_iq(buf, pos)
        pos += 12
        n, pos = wire.read_compact_count(buf, pos, 20)
        self.state_batches, pos = wire.read_structs(StateBatch._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReadStateResult(Struct):
    """Part of ReadShareGroupStateResponse."""

    __slots__ = ("topic_id", "partitions")

    FIELDS = (
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReadStateResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 21)
        self.partitions, pos = wire.read_structs(PartitionResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ReadShareGroupStateResponse(Message):
    """ReadShareGroupStateResponse, versions 0."""

    __slots__ = ("results",)

    NAME = "ReadShareGroupStateResponse"
    TYPE = "response"
    API_KEY = 84
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Results", "results", "struct", (0, 0), is_array=True, default=[], struct=ReadStateResult),
    )

    def __init__(
        self,
        results: list[ReadStateResult] = UNSET,  # []ReadStateResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.results))
        for read_state_result in self.results:
            read_state_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ReadShareGroupStateResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.results, pos = wire.read_structs(ReadStateResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
