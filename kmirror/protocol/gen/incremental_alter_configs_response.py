"""IncrementalAlterConfigsResponse: response, key 44, versions 0-2, flexible from 1.

Generated from schemas/kafka/IncrementalAlterConfigsResponse.json and schemas/mirroring/IncrementalAlterConfigsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterConfigsResourceResponse(Struct):
    """Part of IncrementalAlterConfigsResponse."""

    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    resource_type: int = 0  # int8
    resource_name: str = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 2), nullable=(0, 2), default=""),
        Field("ResourceType", "resource_type", "int8", (0, 2), default=0),
        Field("ResourceName", "resource_name", "string", (0, 2), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.error_message))
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 1 else wire.string)(self.resource_name))
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterConfigsResourceResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class IncrementalAlterConfigsResponse(Message):
    """IncrementalAlterConfigsResponse, versions 0-2."""

    throttle_time_ms: int = 0  # int32
    responses: list[AlterConfigsResourceResponse] = field(default_factory=list)  # []AlterConfigsResourceResponse

    NAME: ClassVar[str] = "IncrementalAlterConfigsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 44
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 1
    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 1 else wire.count)(self.responses))
        for alter_configs_resource_response in self.responses:
            alter_configs_resource_response._write(put, version)
        if version >= 1:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[IncrementalAlterConfigsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 6)
        self.responses, pos = wire.read_structs(AlterConfigsResourceResponse._read, buf, pos, n, version)
        if version >= 1:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
