"""ConsumerGroupTargetAssignmentMemberKey: coordinator-key, key 7, versions 0, never flexible.

Generated from schemas/coordinator/ConsumerGroupTargetAssignmentMemberKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ConsumerGroupTargetAssignmentMemberKey(Message):
    """ConsumerGroupTargetAssignmentMemberKey, versions 0."""

    __slots__ = ("group_id", "member_id")

    NAME = "ConsumerGroupTargetAssignmentMemberKey"
    TYPE = "coordinator-key"
    API_KEY = 7
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 0), default=""),
        Field("MemberId", "member_id", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        group_id: str = "",  # string
        member_id: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.member_id = member_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group_id))
        put(wire.string(self.member_id))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupTargetAssignmentMemberKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_string(buf, pos)
        self.member_id, pos = wire.read_string(buf, pos)
        return self, pos
