"""SnapshotFooterRecord: data, versions 0, flexible from 0.

Generated from schemas/kafka/SnapshotFooterRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class SnapshotFooterRecord(Message):
    """SnapshotFooterRecord, versions 0."""

    version: int = 0  # int16

    NAME: ClassVar[str] = "SnapshotFooterRecord"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Version", "version", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.version))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SnapshotFooterRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.version,) = wire.unpack_int16(buf, pos)
        pos += 2
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
