"""DeleteTopicsResponse: response, key 20, versions 1-6, flexible from 4.

Generated from schemas/kafka/DeleteTopicsResponse.json.
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


class DeletableTopicResult(Struct):
    """Part of DeleteTopicsResponse."""

    __slots__ = ("name", "topic_id", "error_code", "error_message")

    FIELDS = (
        Field(
            "Name",
            "name",
            "string",
            (1, 6),
            nullable=(6, 6),
            default="",
            entity="topicName",
            map_key=True,
        ),
        Field("TopicId", "topic_id", "uuid", (6, 6), default=Uuid.ZERO, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (1, 6), default=0),
        Field("ErrorMessage", "error_message", "string", (5, 6), nullable=(5, 6), ignorable=True),
    )

    def __init__(
        self,
        name: str | None = "",  # string, null in v6+, topicName
        topic_id: Uuid = Uuid.ZERO,  # uuid, v6+, ignorable
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string, v5+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_string if version >= 6 else wire.compact_string if version >= 4 else wire.string)(self.name))
        if version >= 6:
            put(wire.uuid(self.topic_id))
        put(wire.pack_int16(self.error_code))
        if version >= 5:
            put(wire.compact_nullable_string(self.error_message))
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeletableTopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_nullable_string if version >= 6 else wire.read_compact_string if version >= 4 else wire.read_string)(buf, pos)
        if version >= 6:
            self.topic_id, pos = wire.read_uuid(buf, pos)
        else:
            self.topic_id = Uuid.ZERO
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 5:
            self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.error_message = None
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DeleteTopicsResponse(Message):
    """DeleteTopicsResponse, versions 1-6."""

    __slots__ = ("throttle_time_ms", "responses")

    NAME = "DeleteTopicsResponse"
    TYPE = "response"
    API_KEY = 20
    MIN_VERSION = 1
    MAX_VERSION = 6
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 6), default=0, ignorable=True),
        Field(
            "Responses",
            "responses",
            "struct",
            (1, 6),
            is_array=True,
            default=[],
            struct=DeletableTopicResult,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32, ignorable
        responses: list[DeletableTopicResult] = UNSET,  # []DeletableTopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is UNSET else responses
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 4 else wire.count)(self.responses))
        for deletable_topic_result in self.responses:
            deletable_topic_result._write(put, version)
        if version >= 4:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteTopicsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 4 else wire.read_count)(buf, pos, 4)
        self.responses, pos = wire.read_structs(DeletableTopicResult._read, buf, pos, n, version)
        if version >= 4:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
