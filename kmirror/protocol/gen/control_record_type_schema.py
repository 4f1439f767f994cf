"""ControlRecordTypeSchema: data, versions 0, never flexible.

Generated from schemas/kafka/ControlRecordTypeSchema.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ControlRecordTypeSchema(Message):
    """ControlRecordTypeSchema, versions 0."""

    type: int = 0  # int16

    NAME: ClassVar[str] = "ControlRecordTypeSchema"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Type", "type", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.type))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ControlRecordTypeSchema, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.type,) = wire.unpack_int16(buf, pos)
        pos += 2
        return self, pos
