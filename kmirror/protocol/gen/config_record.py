"""ConfigRecord: metadata, key 4, versions 0, flexible from 0.

Generated from schemas/metadata/ConfigRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ConfigRecord(Message):
    """ConfigRecord, versions 0."""

    resource_type: int = 0  # int8
    resource_name: str = ""  # string
    name: str = ""  # string
    value: str | None = ""  # string

    NAME: ClassVar[str] = "ConfigRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 4
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ResourceType", "resource_type", "int8", (0, 0), default=0),
        Field("ResourceName", "resource_name", "string", (0, 0), default=""),
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Value", "value", "string", (0, 0), nullable=(0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.resource_type))
        put(wire.compact_string(self.resource_name))
        put(wire.compact_string(self.name))
        put(wire.compact_nullable_string(self.value))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConfigRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = wire.read_compact_string(buf, pos)
        self.name, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
