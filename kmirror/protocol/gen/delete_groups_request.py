"""DeleteGroupsRequest: request, key 42, versions 0-2, flexible from 2.

Generated from schemas/kafka/DeleteGroupsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class DeleteGroupsRequest(Message):
    """Asks to delete empty groups."""

    __slots__ = ("groups_names",)

    NAME = "DeleteGroupsRequest"
    TYPE = "request"
    API_KEY = 42
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("GroupsNames", "groups_names", "string", (0, 2), is_array=True, default=[], entity="groupId"),
    )

    def __init__(
        self,
        # Ids of the groups.
        groups_names: list[str] = UNSET,  # []string, groupId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.groups_names = [] if groups_names is UNSET else groups_names
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_count if version >= 2 else wire.count)(self.groups_names))
        for text in self.groups_names:
            put((wire.compact_string if version >= 2 else wire.string)(text))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteGroupsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 1)
        self.groups_names, pos = wire.read_many(wire.read_compact_string if version >= 2 else wire.read_string, buf, pos, n)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
