"""WriteShareGroupStateResponse: response, key 85, versions 0-1, flexible from 0.

Generated from schemas/kafka/WriteShareGroupStateResponse.json.
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


class PartitionResult(Struct):
    """Part of WriteShareGroupStateResponse."""

    __slots__ = ("partition", "error_code", "error_message")

    FIELDS = (
        Field("Partition", "partition", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 1), nullable=(0, 1)),
    )

    def __init__(
        self,
        partition: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.partition = partition
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.partition, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
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
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WriteStateResult(Struct):
    """Part of WriteShareGroupStateResponse."""

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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteStateResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.partitions, pos = wire.read_structs(PartitionResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class WriteShareGroupStateResponse(Message):
    """WriteShareGroupStateResponse, versions 0-1."""

    __slots__ = ("results",)

    NAME = "WriteShareGroupStateResponse"
    TYPE = "response"
    API_KEY = 85
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Results", "results", "struct", (0, 1), is_array=True, default=[], struct=WriteStateResult),
    )

    def __init__(
        self,
        results: list[WriteStateResult] = UNSET,  # []WriteStateResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.results))
        for write_state_result in self.results:
            write_state_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[WriteShareGroupStateResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 18)
        self.results, pos = wire.read_structs(WriteStateResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
