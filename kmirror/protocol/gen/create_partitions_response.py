"""CreatePartitionsResponse: response, key 37, versions 0-3, flexible from 2.

Generated from schemas/kafka/CreatePartitionsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class CreatePartitionsTopicResult(Struct):
    """Part of CreatePartitionsResponse."""

    __slots__ = ("name", "error_code", "error_message")

    FIELDS = (
        Field("Name", "name", "string", (0, 3), default="", entity="topicName"),
        Field("ErrorCode", "error_code", "int16", (0, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 3), nullable=(0, 3)),
    )

    def __init__(
        self,
        name: str = "",  # string, topicName
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.name))
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatePartitionsTopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class CreatePartitionsResponse(Message):
    """CreatePartitionsResponse, versions 0-3."""

    __slots__ = ("throttle_time_ms", "results")

    NAME = "CreatePartitionsResponse"
    TYPE = "response"
    API_KEY = 37
    MIN_VERSION = 0
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 3), default=0),
        Field(
            "Results",
            "results",
            "struct",
            (0, 3),
            is_array=True,
            default=[],
            struct=CreatePartitionsTopicResult,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        results: list[CreatePartitionsTopicResult] = UNSET,  # []CreatePartitionsTopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.results))
        for create_partitions_topic_result in self.results:
            create_partitions_topic_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatePartitionsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 5)
        self.results, pos = wire.read_structs(CreatePartitionsTopicResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
