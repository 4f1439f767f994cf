"""OffsetCommitKey: coordinator-key, key 1, versions 0, never flexible.

Generated from schemas/coordinator/OffsetCommitKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class OffsetCommitKey(Message):
    """OffsetCommitKey, versions 0."""

    __slots__ = ("group", "topic", "partition")

    NAME = "OffsetCommitKey"
    TYPE = "coordinator-key"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("group", "group", "string", (0, 0), default=""),
        Field("topic", "topic", "string", (0, 0), default=""),
        Field("partition", "partition", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        group: str = "",  # string
        topic: str = "",  # string
        partition: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group = group
        self.topic = topic
        self.partition = partition
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group))
        put(wire.string(self.topic))
        put(wire.pack_int32(self.partition))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group, pos = wire.read_string(buf, pos)
        self.topic, pos = wire.read_string(buf, pos)
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos
