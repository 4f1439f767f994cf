"""DescribeGroupsRequest: request, key 15, versions 0-6, flexible from 5.

Generated from schemas/kafka/DescribeGroupsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class DescribeGroupsRequest(Message):
    """Asks for classic groups with their members."""

    __slots__ = ("groups", "include_authorized_operations")

    NAME = "DescribeGroupsRequest"
    TYPE = "request"
    API_KEY = 15
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_FROM = 5
    FIELDS = (
        Field("Groups", "groups", "string", (0, 6), is_array=True, default=[], entity="groupId"),
        Field("IncludeAuthorizedOperations", "include_authorized_operations", "bool", (3, 6), default=False),
    )

    def __init__(
        self,
        # One entry for each group.
        groups: list[str] = UNSET,  # []string, groupId
        # Whether the answer tells what the caller may do.
        include_authorized_operations: bool = False,  # bool, v3+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.groups = [] if groups is UNSET else groups
        self.include_authorized_operations = include_authorized_operations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 5 else wire.count)(self.groups))
        for text in self.groups:
            put((wire.compact_string if version >= 5 else wire.string)(text))
        if version >= 3:
            put(wire.pack_bool(self.include_authorized_operations))
        elif self.include_authorized_operations:
            raise wire.Unwritable
        if version >= 5:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeGroupsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 5 else wire.read_count)(buf, pos, 1)
        self.groups, pos = wire.read_many(wire.read_compact_string if version >= 5 else wire.read_string, buf, pos, n)
        if version >= 3:
            (self.include_authorized_operations,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.include_authorized_operations = False
        if version >= 5:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
