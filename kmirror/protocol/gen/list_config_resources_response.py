"""ListConfigResourcesResponse: response, key 74, versions 0-1, flexible from 0.

Generated from schemas/kafka/ListConfigResourcesResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ConfigResource(Struct):
    """Part of ListConfigResourcesResponse."""

    resource_name: str = ""  # string
    resource_type: int = 16  # int8, v1+, ignorable

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ResourceName", "resource_name", "string", (0, 1), default=""),
        Field("ResourceType", "resource_type", "int8", (1, 1), default=16, ignorable=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.resource_name))
        if version >= 1:
            put(wire.pack_int8(self.resource_type))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConfigResource, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.resource_name, pos = wire.read_compact_string(buf, pos)
        if version >= 1:
            (self.resource_type,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.resource_type = 16
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ListConfigResourcesResponse(Message):
    """ListConfigResourcesResponse, versions 0-1."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    config_resources: list[ConfigResource] = field(default_factory=list)  # []ConfigResource

    NAME: ClassVar[str] = "ListConfigResourcesResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 1), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 1), default=0),
        Field(
            "ConfigResources",
            "config_resources",
            "struct",
            (0, 1),
            is_array=True,
            default=[],
            struct=ConfigResource,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_count(self.config_resources))
        for config_resource in self.config_resources:
            config_resource._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListConfigResourcesResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.config_resources, pos = wire.read_structs(ConfigResource._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
