"""KRaftVersionRecord: data, versions 0, flexible from 0.

Generated from schemas/kafka/KRaftVersionRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_hh, pack_hh = wire.fused("hh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class KRaftVersionRecord(Message):
    """KRaftVersionRecord, versions 0."""

    version: int = 0  # int16
    kraft_version: int = 0  # int16

    NAME: ClassVar[str] = "KRaftVersionRecord"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Version", "version", "int16", (0, 0), default=0),
        Field("KRaftVersion", "kraft_version", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hh(self.version, self.kraft_version))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[KRaftVersionRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.version, self.kraft_version = unpack_hh(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
