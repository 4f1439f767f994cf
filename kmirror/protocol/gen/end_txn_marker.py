"""EndTxnMarker: data, versions 0, never flexible.

Generated from schemas/kafka/EndTxnMarker.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class EndTxnMarker(Message):
    """EndTxnMarker, versions 0."""

    coordinator_epoch: int = 0  # int32

    NAME: ClassVar[str] = "EndTxnMarker"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = None
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("CoordinatorEpoch", "coordinator_epoch", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.coordinator_epoch))
        if self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndTxnMarker, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.coordinator_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos
