"""IncrementalAlterConfigsResponse: response, key 44, versions 0-2, flexible from 1.

Generated from schemas/kafka/IncrementalAlterConfigsResponse.json and schemas/mirroring/IncrementalAlterConfigsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class AlterConfigsResourceResponse(Struct):
    """Part of IncrementalAlterConfigsResponse."""

    __slots__ = ("error_code", "error_message", "resource_type", "resource_name")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 2), nullable=(0, 2), default=""),
        Field("ResourceType", "resource_type", "int8", (0, 2), default=0),
        Field("ResourceName", "resource_name", "string", (0, 2), default=""),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.error_message))
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 1 else wire.string)(self.resource_name))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterConfigsResourceResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class IncrementalAlterConfigsResponse(Message):
    """IncrementalAlterConfigsResponse, versions 0-2."""

    __slots__ = ("throttle_time_ms", "responses")

    NAME = "IncrementalAlterConfigsResponse"
    TYPE = "response"
    API_KEY = 44
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field(
            "Responses",
            "responses",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=AlterConfigsResourceResponse,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        responses: list[AlterConfigsResourceResponse] = UNSET,  # []AlterConfigsResourceResponse
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.responses = [] if responses is UNSET else responses
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 1 else wire.count)(self.responses))
        for alter_configs_resource_response in self.responses:
            alter_configs_resource_response._write(put, version)
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[IncrementalAlterConfigsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 6)
        self.responses, pos = wire.read_structs(AlterConfigsResourceResponse._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
