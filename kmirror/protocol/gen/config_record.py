"""ConfigRecord: metadata, key 4, versions 0, flexible from 0.

Generated from schemas/metadata/ConfigRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ConfigRecord(Message):
    """ConfigRecord, versions 0."""

    __slots__ = ("resource_type", "resource_name", "name", "value")

    NAME = "ConfigRecord"
    TYPE = "metadata"
    API_KEY = 4
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ResourceType", "resource_type", "int8", (0, 0), default=0),
        Field("ResourceName", "resource_name", "string", (0, 0), default=""),
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Value", "value", "string", (0, 0), nullable=(0, 0), default=""),
    )

    def __init__(
        self,
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        name: str = "",  # string
        value: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.name = name
        self.value = value
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put(wire.compact_string(self.resource_name))
        put(wire.compact_string(self.name))
        put(wire.compact_nullable_string(self.value))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConfigRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = wire.read_compact_string(buf, pos)
        self.name, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
