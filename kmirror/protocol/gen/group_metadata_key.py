"""GroupMetadataKey: coordinator-key, key 2, versions 0, never flexible.

Generated from schemas/coordinator/GroupMetadataKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class GroupMetadataKey(Message):
    """GroupMetadataKey, versions 0."""

    __slots__ = ("group",)

    NAME = "GroupMetadataKey"
    TYPE = "coordinator-key"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("group", "group", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        group: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group = group
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[GroupMetadataKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group, pos = wire.read_string(buf, pos)
        return self, pos
