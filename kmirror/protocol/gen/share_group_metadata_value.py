"""ShareGroupMetadataValue: coordinator-value, key 11, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareGroupMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_iq, pack_iq = wire.fused("iq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ShareGroupMetadataValue(Message):
    """ShareGroupMetadataValue, versions 0."""

    epoch: int = 0  # int32
    metadata_hash: int = 0  # int64

    NAME: ClassVar[str] = "ShareGroupMetadataValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 11
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Epoch", "epoch", "int32", (0, 0), default=0),
        Field("MetadataHash", "metadata_hash", "int64", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.epoch, self.metadata_hash))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupMetadataValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.epoch, self.metadata_hash = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
