"""UnfenceBrokerRecord: metadata, key 8, versions 0, flexible from 0.

Generated from schemas/metadata/UnfenceBrokerRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_iq, pack_iq = wire.fused("iq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class UnfenceBrokerRecord(Message):
    """UnfenceBrokerRecord, versions 0."""

    id: int = 0  # int32, brokerId
    epoch: int = 0  # int64

    NAME: ClassVar[str] = "UnfenceBrokerRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 8
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Id", "id", "int32", (0, 0), default=0, entity="brokerId"),
        Field("Epoch", "epoch", "int64", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.id, self.epoch))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UnfenceBrokerRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.id, self.epoch = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
