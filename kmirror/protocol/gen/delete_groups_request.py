"""DeleteGroupsRequest: request, key 42, versions 0-2, flexible from 2.

Generated from schemas/kafka/DeleteGroupsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteGroupsRequest(Message):
    """DeleteGroupsRequest, versions 0-2."""

    groups_names: list[str] = field(default_factory=list)  # []string, groupId

    NAME: ClassVar[str] = "DeleteGroupsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupsNames", "groups_names", "string", (0, 2), is_array=True, default=[], entity="groupId"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.groups_names))
        for text in self.groups_names:
            put((wire.compact_string if version >= 2 else wire.string)(text))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteGroupsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 1)
        self.groups_names, pos = wire.read_many(wire.read_compact_string if version >= 2 else wire.read_string, buf, pos, n)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
