"""AbortTransactionRecord: metadata, key 25, versions 0, flexible from 0.

Generated from schemas/metadata/AbortTransactionRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AbortTransactionRecord(Message):
    """AbortTransactionRecord, versions 0."""

    reason: str | None = None  # string, tag 0

    NAME: ClassVar[str] = "AbortTransactionRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Reason", "reason", "string", (0, 0), nullable=(0, 0), tagged=(0, 0), tag=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        tags: list[tuple[int, bytes]] = []
        if self.reason is not None:
            tags.append((0, wire.compact_nullable_string(self.reason)))
        wire.put_tags(put, tags, self.unknown_tags, 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AbortTransactionRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.reason = None
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                self.reason, pos = wire.read_compact_nullable_string(buf, pos)
            else:
                pos = wire.keep_unknown_tag(self, tag, size, buf, pos)
        return pos
