"""ListConfigResourcesRequest: request, key 74, versions 0-1, flexible from 0.

Generated from schemas/kafka/ListConfigResourcesRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ListConfigResourcesRequest(Message):
    """ListConfigResourcesRequest, versions 0-1."""

    resource_types: list[int] = field(default_factory=list)  # []int8, v1+

    NAME: ClassVar[str] = "ListConfigResourcesRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 74
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ResourceTypes", "resource_types", "int8", (1, 1), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.compact_count(self.resource_types))
            put(wire.numbers(self.resource_types, "b"))
        elif self.resource_types:
            raise wire.Unwritable
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListConfigResourcesRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version >= 1:
            n, pos = wire.read_compact_count(buf, pos, 1)
            self.resource_types, pos = wire.read_numbers(buf, pos, n, "b", 1)
        else:
            self.resource_types = []
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
