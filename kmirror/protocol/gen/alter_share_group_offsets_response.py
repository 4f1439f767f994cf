"""AlterShareGroupOffsetsResponse: response, key 91, versions 0, flexible from 0.

Generated from schemas/kafka/AlterShareGroupOffsetsResponse.json.
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


class AlterShareGroupOffsetsResponsePartition(Struct):
    """Part of AlterShareGroupOffsetsResponse."""

    __slots__ = ("partition_index", "error_code", "error_message")

    FIELDS = (
        Field("PartitionIndex", "partition_index", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
    )

    def __init__(
        self,
        partition_index: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsResponsePartition, int]:
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


class AlterShareGroupOffsetsResponseTopic(Struct):
    """Part of AlterShareGroupOffsetsResponse."""

    __slots__ = ("topic_name", "topic_id", "partitions")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName", map_key=True),
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field(
            "Partitions",
            "partitions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=AlterShareGroupOffsetsResponsePartition,
        ),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partitions: list[AlterShareGroupOffsetsResponsePartition] = UNSET,  # []AlterShareGroupOffsetsResponsePartition
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.partitions = [] if partitions is UNSET else partitions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.uuid(self.topic_id))
        put(wire.compact_count(self.partitions))
        for alter_share_group_offsets_response_partition in self.partitions:
            alter_share_group_offsets_response_partition._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsResponseTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.partitions, pos = wire.read_structs(AlterShareGroupOffsetsResponsePartition._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterShareGroupOffsetsResponse(Message):
    """AlterShareGroupOffsetsResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "responses")

    NAME = "AlterShareGroupOffsetsResponse"
    TYPE = "response"
    API_KEY = 91
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field(
            "Responses",
            "responses",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=AlterShareGroupOffsetsResponseTopic,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        responses: list[AlterShareGroupOffsetsResponseTopic] = UNSET,  # []AlterShareGroupOffsetsResponseTopic
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.responses = [] if responses is UNSET else responses
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.responses))
        for alter_share_group_offsets_response_topic in self.responses:
            alter_share_group_offsets_response_topic._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterShareGroupOffsetsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 19)
        self.responses, pos = wire.read_structs(AlterShareGroupOffsetsResponseTopic._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
