"""ShareGroupDescribeRequest: request, key 77, versions 1, flexible from 0.

Generated from schemas/kafka/ShareGroupDescribeRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ShareGroupDescribeRequest(Message):
    """ShareGroupDescribeRequest, versions 1."""

    group_ids: list[str] = field(default_factory=list)  # []string, groupId
    include_authorized_operations: bool = False  # bool

    NAME: ClassVar[str] = "ShareGroupDescribeRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 77
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupIds", "group_ids", "string", (1, 1), is_array=True, default=[], entity="groupId"),
        Field("IncludeAuthorizedOperations", "include_authorized_operations", "bool", (1, 1), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.group_ids))
        for text in self.group_ids:
            put(wire.compact_string(text))
        put(wire.pack_bool(self.include_authorized_operations))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupDescribeRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.group_ids, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        (self.include_authorized_operations,) = wire.unpack_bool(buf, pos)
        pos += 1
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
