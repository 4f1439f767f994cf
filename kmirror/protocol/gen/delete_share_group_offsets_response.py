"""DeleteShareGroupOffsetsResponse: response, key 92, versions 0, flexible from 0.

Generated from schemas/kafka/DeleteShareGroupOffsetsResponse.json.
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


class DeleteShareGroupOffsetsResponseTopic(Struct):
    """Part of DeleteShareGroupOffsetsResponse."""

    __slots__ = ("topic_name", "topic_id", "error_code", "error_message")

    FIELDS = (
        Field("TopicName", "topic_name", "string", (0, 0), default="", entity="topicName"),
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
    )

    def __init__(
        self,
        topic_name: str = "",  # string, topicName
        topic_id: Uuid = Uuid.ZERO,  # uuid
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topic_name = topic_name
        self.topic_id = topic_id
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.topic_name))
        put(wire.uuid(self.topic_id))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteShareGroupOffsetsResponseTopic, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.topic_name, pos = wire.read_compact_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DeleteShareGroupOffsetsResponse(Message):
    """DeleteShareGroupOffsetsResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "responses")

    NAME = "DeleteShareGroupOffsetsResponse"
    TYPE = "response"
    API_KEY = 92
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
            struct=DeleteShareGroupOffsetsResponseTopic,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        responses: list[DeleteShareGroupOffsetsResponseTopic] = UNSET,  # []DeleteShareGroupOffsetsResponseTopic
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
        for delete_share_group_offsets_response_topic in self.responses:
            delete_share_group_offsets_response_topic._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteShareGroupOffsetsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 21)
        self.responses, pos = wire.read_structs(DeleteShareGroupOffsetsResponseTopic._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
