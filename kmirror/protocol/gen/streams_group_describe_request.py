"""StreamsGroupDescribeRequest: request, key 89, versions 0, flexible from 0.

Generated from schemas/kafka/StreamsGroupDescribeRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class StreamsGroupDescribeRequest(Message):
    """StreamsGroupDescribeRequest, versions 0."""

    __slots__ = ("group_ids", "include_authorized_operations")

    NAME = "StreamsGroupDescribeRequest"
    TYPE = "request"
    API_KEY = 89
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("GroupIds", "group_ids", "string", (0, 0), is_array=True, default=[], entity="groupId"),
        Field("IncludeAuthorizedOperations", "include_authorized_operations", "bool", (0, 0), default=False),
    )

    def __init__(
        self,
        group_ids: list[str] = UNSET,  # []string, groupId
        include_authorized_operations: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_ids = [] if group_ids is UNSET else group_ids
        self.include_authorized_operations = include_authorized_operations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.group_ids))
        for text in self.group_ids:
            put(wire.compact_string(text))
        put(wire.pack_bool(self.include_authorized_operations))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupDescribeRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.group_ids, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        (self.include_authorized_operations,) = wire.unpack_bool(buf, pos)
        pos += 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
