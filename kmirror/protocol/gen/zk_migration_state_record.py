"""ZkMigrationStateRecord: metadata, key 21, versions 0, flexible from 0.

Generated from schemas/metadata/ZkMigrationStateRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ZkMigrationStateRecord(Message):
    """ZkMigrationStateRecord, versions 0."""

    zk_migration_state: int = 0  # int8

    NAME: ClassVar[str] = "ZkMigrationStateRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 21
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ZkMigrationState", "zk_migration_state", "int8", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.zk_migration_state))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ZkMigrationStateRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.zk_migration_state,) = wire.unpack_int8(buf, pos)
        pos += 1
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
