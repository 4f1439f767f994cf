"""CreateMirrorRequest: request, key 94, versions 0, flexible from 0.

Generated from schemas/mirroring/CreateMirrorRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class MirrorConfig(Struct):
    """Part of CreateMirrorRequest."""

    # Configuration key.
    name: str = ""  # string
    # Its value.
    value: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", map_key=True),
        Field("Value", "value", "string", (0, 0), nullable=(0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_nullable_string(self.value))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MirrorConfig, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreateMirrorRequest(Message):
    """Creates a mirror: a name and how to reach the source cluster."""

    # Name of the mirror.
    mirror_name: str = ""  # string, mirrorName
    # Configuration of the mirror.
    config: list[MirrorConfig] = field(default_factory=list)  # []MirrorConfig

    NAME: ClassVar[str] = "CreateMirrorRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 94
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("Config", "config", "struct", (0, 0), is_array=True, default=[], struct=MirrorConfig),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        put(wire.compact_count(self.config))
        for mirror_config in self.config:
            mirror_config._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateMirrorRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.config, pos = wire.read_structs(MirrorConfig._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
