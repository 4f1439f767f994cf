"""ListConfigResourcesResponse: response, key 74, versions 0-1, flexible from 0.

Generated from schemas/kafka/ListConfigResourcesResponse.json.
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


class ConfigResource(Struct):
    """Part of ListConfigResourcesResponse."""

    __slots__ = ("resource_name", "resource_type")

    FIELDS = (
        Field("ResourceName", "resource_name", "string", (0, 1), default=""),
        Field("ResourceType", "resource_type", "int8", (1, 1), default=16, ignorable=True),
    )

    def __init__(
        self,
        resource_name: str = "",  # string
        resource_type: int = 16,  # int8, v1+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resource_name = resource_name
        self.resource_type = resource_type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.resource_name))
        if version >= 1:
            put(wire.pack_int8(self.resource_type))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConfigResource, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.resource_name, pos = wire.read_compact_string(buf, pos)
        if version >= 1:
            (self.resource_type,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.resource_type = 16
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ListConfigResourcesResponse(Message):
    """ListConfigResourcesResponse, versions 0-1."""

    __slots__ = ("throttle_time_ms", "error_code", "config_resources")

    NAME = "ListConfigResourcesResponse"
    TYPE = "response"
    API_KEY = 74
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        config_resources: list[ConfigResource] = UNSET,  # []ConfigResource
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.config_resources = [] if config_resources is UNSET else config_resources
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_count(self.config_resources))
        for config_resource in self.config_resources:
            config_resource._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListConfigResourcesResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 2)
        self.config_resources, pos = wire.read_structs(ConfigResource._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
