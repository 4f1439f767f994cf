"""RemoveTopicsFromMirrorResponse: response, key 96, versions 0, flexible from 0.

Generated from schemas/mirroring/RemoveTopicsFromMirrorResponse.json.
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


class TopicResult(Struct):
    """Part of RemoveTopicsFromMirrorResponse."""

    __slots__ = ("name", "error_code")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", entity="topicName"),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        # Name of the topic.
        name: str = "",  # string, topicName
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.error_code = error_code
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.pack_int16(self.error_code))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TopicResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class RemoveTopicsFromMirrorResponse(Message):
    """Says for each topic whether it is being detached."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "mirror_name", "topics")

    NAME = "RemoveTopicsFromMirrorResponse"
    TYPE = "response"
    API_KEY = 96
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0)),
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("Topics", "topics", "struct", (0, 0), is_array=True, default=[], struct=TopicResult),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # What went wrong, null if all is well.
        error_message: str | None = None,  # string
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        # One entry for each topic of the request.
        topics: list[TopicResult] = UNSET,  # []TopicResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.mirror_name = mirror_name
        self.topics = [] if topics is UNSET else topics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_string(self.mirror_name))
        put(wire.compact_count(self.topics))
        for topic_result in self.topics:
            topic_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoveTopicsFromMirrorResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 4)
        self.topics, pos = wire.read_structs(TopicResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
