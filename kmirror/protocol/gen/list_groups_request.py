"""ListGroupsRequest: request, key 16, versions 0-5, flexible from 3.

Generated from schemas/kafka/ListGroupsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class ListGroupsRequest(Message):
    """Asks a coordinator for all its groups."""

    __slots__ = ("states_filter", "types_filter")

    NAME = "ListGroupsRequest"
    TYPE = "request"
    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("StatesFilter", "states_filter", "string", (4, 5), is_array=True, default=[]),
        Field("TypesFilter", "types_filter", "string", (5, 5), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Only groups in these states; empty means all.
        states_filter: list[str] = UNSET,  # []string, v4+
        # Only groups of these types; empty means all.
        types_filter: list[str] = UNSET,  # []string, v5+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.states_filter = [] if states_filter is UNSET else states_filter
        self.types_filter = [] if types_filter is UNSET else types_filter
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListGroupsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
