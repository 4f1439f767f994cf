"""MirrorPartitionStateKey: coordinator-key, key 2, versions 0, never flexible.

Generated from schemas/mirroring/MirrorPartitionStateKey.json.
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


class MirrorPartitionStateKey(Message):
    """Key of the record that holds the mirror state of a partition."""

    __slots__ = ("mirror_name", "topic_id", "partition")

    NAME = "MirrorPartitionStateKey"
    TYPE = "coordinator-key"
    API_KEY = 2
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default=""),
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partition", "partition", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        # Name of the mirror.
        mirror_name: str = "",  # string
        # Id of the mirrored topic.
        topic_id: Uuid = Uuid.ZERO,  # uuid
        # Partition.
        partition: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mirror_name = mirror_name
        self.topic_id = topic_id
        self.partition = partition
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.mirror_name))
        put(wire.uuid(self.topic_id))
        put(wire.pack_int32(self.partition))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MirrorPartitionStateKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mirror_name, pos = wire.read_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos
