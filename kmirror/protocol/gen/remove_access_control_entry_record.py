"""RemoveAccessControlEntryRecord: metadata, key 19, versions 0, flexible from 0.

Generated from schemas/metadata/RemoveAccessControlEntryRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag


class RemoveAccessControlEntryRecord(Message):
    """RemoveAccessControlEntryRecord, versions 0."""

    __slots__ = ("id",)

    NAME = "RemoveAccessControlEntryRecord"
    TYPE = "metadata"
    API_KEY = 19
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Id", "id", "uuid", (0, 0), default=Uuid.ZERO),
    )

    def __init__(
        self,
        id: Uuid = Uuid.ZERO,  # uuid
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.id = id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoveAccessControlEntryRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.id, pos = wire.read_uuid(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
