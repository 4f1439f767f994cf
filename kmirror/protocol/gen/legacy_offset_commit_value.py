"""LegacyOffsetCommitValue: coordinator-value, key 0, versions 0, never flexible.

Generated from schemas/coordinator/LegacyOffsetCommitValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class LegacyOffsetCommitValue(Message):
    """LegacyOffsetCommitValue, versions 0."""

    offset: int = 0  # int64
    metadata: str = ""  # string
    commit_timestamp: int = 0  # int64

    NAME: ClassVar[str] = "LegacyOffsetCommitValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 0
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("offset", "offset", "int64", (0, 0), default=0),
        Field("metadata", "metadata", "string", (0, 0), default=""),
        Field("commitTimestamp", "commit_timestamp", "int64", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int64(self.offset))
        put(wire.string(self.metadata))
        put(wire.pack_int64(self.commit_timestamp))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LegacyOffsetCommitValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.offset,) = wire.unpack_int64(buf, pos)
        pos += 8
        self.metadata, pos = wire.read_string(buf, pos)
        (self.commit_timestamp,) = wire.unpack_int64(buf, pos)
        pos += 8
        return self, pos
