"""ZkMigrationStateRecord: metadata, key 21, versions 0, flexible from 0.

Generated from schemas/metadata/ZkMigrationStateRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ZkMigrationStateRecord(Message):
    """ZkMigrationStateRecord, versions 0."""

    __slots__ = ("zk_migration_state",)

    NAME = "ZkMigrationStateRecord"
    TYPE = "metadata"
    API_KEY = 21
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ZkMigrationState", "zk_migration_state", "int8", (0, 0), default=0),
    )

    def __init__(
        self,
        zk_migration_state: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.zk_migration_state = zk_migration_state
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int8(self.zk_migration_state))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ZkMigrationStateRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.zk_migration_state,) = wire.unpack_int8(buf, pos)
        pos += 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
