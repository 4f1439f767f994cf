"""StreamsGroupMetadataKey: coordinator-key, key 17, versions 0, never flexible.

Generated from schemas/coordinator/StreamsGroupMetadataKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class StreamsGroupMetadataKey(Message):
    """StreamsGroupMetadataKey, versions 0."""

    group_id: str = ""  # string

    NAME: ClassVar[str] = "StreamsGroupMetadataKey"
    TYPE: ClassVar[str] = "coordinator-key"
    API_KEY: ClassVar[int | None] = 17
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.group_id))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupMetadataKey, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = wire.read_string(buf, pos)
        return self, pos
