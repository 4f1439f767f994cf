"""DescribeClientQuotasRequest: request, key 48, versions 0-1, flexible from 1.

Generated from schemas/kafka/DescribeClientQuotasRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class ComponentData(Struct):
    """Part of DescribeClientQuotasRequest."""

    __slots__ = ("entity_type", "match_type", "match")

    FIELDS = (
        Field("EntityType", "entity_type", "string", (0, 1), default=""),
        Field("MatchType", "match_type", "int8", (0, 1), default=0),
        Field("Match", "match", "string", (0, 1), nullable=(0, 1), default=""),
    )

    def __init__(
        self,
        entity_type: str = "",  # string
        match_type: int = 0,  # int8
        match: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.entity_type = entity_type
        self.match_type = match_type
        self.match = match
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 1 else wire.string)(self.entity_type))
        put(wire.pack_int8(self.match_type))
        put((wire.compact_nullable_string if version >= 1 else wire.nullable_string)(self.match))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ComponentData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.entity_type, pos = (wire.read_compact_string if version >= 1 else wire.read_string)(buf, pos)
        (self.match_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.match, pos = (wire.read_compact_nullable_string if version >= 1 else wire.read_nullable_string)(buf, pos)
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeClientQuotasRequest(Message):
    """DescribeClientQuotasRequest, versions 0-1."""

    __slots__ = ("components", "strict")

    NAME = "DescribeClientQuotasRequest"
    TYPE = "request"
    API_KEY = 48
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 1
    FIELDS = (
        Field("Components", "components", "struct", (0, 1), is_array=True, default=[], struct=ComponentData),
        Field("Strict", "strict", "bool", (0, 1), default=False),
    )

    def __init__(
        self,
        components: list[ComponentData] = UNSET,  # []ComponentData
        strict: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.components = [] if components is UNSET else components
        self.strict = strict
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 1 else wire.count)(self.components))
        for component_data in self.components:
            component_data._write(put, version)
        put(wire.pack_bool(self.strict))
        if version >= 1:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeClientQuotasRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 1 else wire.read_count)(buf, pos, 4)
        self.components, pos = wire.read_structs(ComponentData._read, buf, pos, n, version)
        (self.strict,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 1:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
