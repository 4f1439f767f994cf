"""CreateMirrorRequest: request, key 94, versions 0, flexible from 0.

Generated from schemas/mirroring/CreateMirrorRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class MirrorConfig(Struct):
    """Part of CreateMirrorRequest."""

    __slots__ = ("name", "value")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", map_key=True),
        Field("Value", "value", "string", (0, 0), nullable=(0, 0), default=""),
    )

    def __init__(
        self,
        # Configuration key.
        name: str = "",  # string
        # Its value.
        value: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.value = value
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_nullable_string(self.value))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MirrorConfig, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class CreateMirrorRequest(Message):
    """Creates a mirror: a name and how to reach the source cluster."""

    __slots__ = ("mirror_name", "config")

    NAME = "CreateMirrorRequest"
    TYPE = "request"
    API_KEY = 94
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default="", entity="mirrorName"),
        Field("Config", "config", "struct", (0, 0), is_array=True, default=[], struct=MirrorConfig),
    )

    def __init__(
        self,
        # Name of the mirror.
        mirror_name: str = "",  # string, mirrorName
        # Configuration of the mirror.
        config: list[MirrorConfig] = UNSET,  # []MirrorConfig
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_name = mirror_name
        self.config = [] if config is UNSET else config
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.mirror_name))
        put(wire.compact_count(self.config))
        for mirror_config in self.config:
            mirror_config._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateMirrorRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mirror_name, pos = wire.read_compact_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.config, pos = wire.read_structs(MirrorConfig._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
