"""ShareUpdateKey: coordinator-key, key 1, versions 0, never flexible.

Generated from schemas/coordinator/ShareUpdateKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag


class ShareUpdateKey(Message):
    """ShareUpdateKey, versions 0."""

    __slots__ = ("group_id", "topic_id", "partition")

    NAME = "ShareUpdateKey"
    TYPE = "coordinator-key"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("GroupId", "group_id", "string", (0, 0), default=""),
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partition", "partition", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        group_id: str = "",  # string
        topic_id: Uuid = Uuid.ZERO,  # uuid
        partition: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.group_id = group_id
        self.topic_id = topic_id
        self.partition = partition
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group_id))
        put(wire.uuid(self.topic_id))
        put(wire.pack_int32(self.partition))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareUpdateKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.group_id, pos = wire.read_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos
