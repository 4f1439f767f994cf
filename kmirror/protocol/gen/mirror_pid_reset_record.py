"""MirrorPidResetRecord: data, versions 0, flexible from 0.

Generated from schemas/mirroring/MirrorPidResetRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class MirrorPidResetRecord(Message):
    """Value of the control record after which no producer state of before is valid."""

    # Version of this record.
    version: int = 0  # int16
    # Id of the cluster that the partition was mirrored from.
    source_cluster_id: str = ""  # string

    NAME: ClassVar[str] = "MirrorPidResetRecord"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Version", "version", "int16", (0, 0), default=0),
        Field("SourceClusterId", "source_cluster_id", "string", (0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.version))
        put(wire.compact_string(self.source_cluster_id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[MirrorPidResetRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.version,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.source_cluster_id, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
