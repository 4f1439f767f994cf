"""RemoveAccessControlEntryRecord: metadata, key 19, versions 0, flexible from 0.

Generated from schemas/metadata/RemoveAccessControlEntryRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message
from kmirror.protocol.uuid import Uuid


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class RemoveAccessControlEntryRecord(Message):
    """RemoveAccessControlEntryRecord, versions 0."""

    id: Uuid = Uuid.ZERO  # uuid

    NAME: ClassVar[str] = "RemoveAccessControlEntryRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Id", "id", "uuid", (0, 0), default=Uuid.ZERO),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoveAccessControlEntryRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
