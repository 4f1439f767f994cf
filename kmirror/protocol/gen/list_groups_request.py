"""ListGroupsRequest: request, key 16, versions 0-5, flexible from 3.

Generated from schemas/kafka/ListGroupsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ListGroupsRequest(Message):
    """ListGroupsRequest, versions 0-5."""

    states_filter: list[str] = field(default_factory=list)  # []string, v4+
    types_filter: list[str] = field(default_factory=list)  # []string, v5+

    NAME: ClassVar[str] = "ListGroupsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("StatesFilter", "states_filter", "string", (4, 5), is_array=True, default=[]),
        Field("TypesFilter", "types_filter", "string", (5, 5), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 4:
            put(wire.compact_count(self.states_filter))
            for text in self.states_filter:
                put(wire.compact_string(text))
        elif self.states_filter:
            raise wire.Unwritable
        if version >= 5:
            put(wire.compact_count(self.types_filter))
            for text in self.types_filter:
                put(wire.compact_string(text))
        elif self.types_filter:
            raise wire.Unwritable
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListGroupsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version >= 4:
            n, pos = wire.read_compact_count(buf, pos, 1)
            self.states_filter, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        else:
            self.states_filter = []
        if version >= 5:
            n, pos = wire.read_compact_count(buf, pos, 1)
            self.types_filter, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        else:
            self.types_filter = []
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
