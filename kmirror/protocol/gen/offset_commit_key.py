"""OffsetCommitKey: coordinator-key, key 1, versions 0, never flexible.

Generated from schemas/coordinator/OffsetCommitKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class OffsetCommitKey(Message):
    """OffsetCommitKey, versions 0."""

    group: str = ""  # string
    topic: str = ""  # string
    partition: int = 0  # int32

    NAME: ClassVar[str] = "OffsetCommitKey"
    TYPE: ClassVar[str] = "coordinator-key"
    API_KEY: ClassVar[int | None] = 1
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("group", "group", "string", (0, 0), default=""),
        Field("topic", "topic", "string", (0, 0), default=""),
        Field("partition", "partition", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group))
        put(wire.string(self.topic))
        put(wire.pack_int32(self.partition))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[OffsetCommitKey, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group, pos = wire.read_string(buf, pos)
        self.topic, pos = wire.read_string(buf, pos)
        (self.partition,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos
