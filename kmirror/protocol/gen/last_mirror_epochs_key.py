"""LastMirrorEpochsKey: coordinator-key, key 1, versions 0, never flexible.

Generated from schemas/mirroring/LastMirrorEpochsKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class LastMirrorEpochsKey(Message):
    """Key of the record that holds the last mirror epoch of a partition."""

    # Name of the mirror.
    mirror_name: str = ""  # string
    # Id of the mirrored topic.
    topic_id: Uuid = Uuid.ZERO  # uuid
    # Partition.
    partition: int = 0  # int32

    NAME: ClassVar[str] = "LastMirrorEpochsKey"
    TYPE: ClassVar[str] = "coordinator-key"
    API_KEY: ClassVar[int | None] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("MirrorName", "mirror_name", "string", (0, 0), default=""),
        Field("TopicId", "topic_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Partition", "partition", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.mirror_name))
        put(wire.uuid(self.topic_id))
        put(wire.pack_int32(self.partition))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LastMirrorEpochsKey, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.mirror_name, pos = wire.read_string(buf, pos)
        self.topic_id, pos = wire.read_uuid(buf, pos)
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos
