"""ListConfigResourcesRequest: request, key 74, versions 0-1, flexible from 0.

Generated from schemas/kafka/ListConfigResourcesRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class ListConfigResourcesRequest(Message):
    """ListConfigResourcesRequest, versions 0-1."""

    __slots__ = ("resource_types",)

    NAME = "ListConfigResourcesRequest"
    TYPE = "request"
    API_KEY = 74
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ResourceTypes", "resource_types", "int8", (1, 1), is_array=True, default=[]),
    )

    def __init__(
        self,
        resource_types: list[int] = UNSET,  # []int8, v1+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.resource_types = [] if resource_types is UNSET else resource_types
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.compact_count(self.resource_types))
            put(wire.numbers(self.resource_types, "b"))
        elif self.resource_types:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListConfigResourcesRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 1:
            n, pos = wire.read_compact_count(buf, pos, 1)
            self.resource_types, pos = wire.read_numbers(buf, pos, n, "b", 1)
        else:
            self.resource_types = []
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
