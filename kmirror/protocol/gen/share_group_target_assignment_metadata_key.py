"""ShareGroupTargetAssignmentMetadataKey: coordinator-key, key 12, versions 0, never flexible.

Generated from schemas/coordinator/ShareGroupTargetAssignmentMetadataKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ShareGroupTargetAssignmentMetadataKey(Message):
    """ShareGroupTargetAssignmentMetadataKey, versions 0."""

    __slots__ = ("group_id",)

    NAME = "ShareGroupTargetAssignmentMetadataKey"
    TYPE = "coordinator-key"
    API_KEY = 12
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        group_id: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group_id))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupTargetAssignmentMetadataKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_string(buf, pos)
        return self, pos
