"""DescribeGroupsRequest: request, key 15, versions 0-6, flexible from 5.

Generated from schemas/kafka/DescribeGroupsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeGroupsRequest(Message):
    """DescribeGroupsRequest, versions 0-6."""

    groups: list[str] = field(default_factory=list)  # []string, groupId
    include_authorized_operations: bool = False  # bool, v3+

    NAME: ClassVar[str] = "DescribeGroupsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 5
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Groups", "groups", "string", (0, 6), is_array=True, default=[], entity="groupId"),
        Field("IncludeAuthorizedOperations", "include_authorized_operations", "bool", (3, 6), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 5 else wire.count)(self.groups))
        for text in self.groups:
            put((wire.compact_string if version >= 5 else wire.string)(text))
        if version >= 3:
            put(wire.pack_bool(self.include_authorized_operations))
        elif self.include_authorized_operations:
            raise wire.Unwritable
        if version >= 5:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeGroupsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 1)
        self.groups, pos = wire.read_many(wire.read_compact_string if version >= 5 else wire.read_string, buf, pos, n)
        if version >= 3:
            (self.include_authorized_operations,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.include_authorized_operations = False
        if version >= 5:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
