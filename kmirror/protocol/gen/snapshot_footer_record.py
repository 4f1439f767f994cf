"""SnapshotFooterRecord: data, versions 0, flexible from 0.

Generated from schemas/kafka/SnapshotFooterRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class SnapshotFooterRecord(Message):
    """SnapshotFooterRecord, versions 0."""

    __slots__ = ("version",)

    NAME = "SnapshotFooterRecord"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Version", "version", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        version: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.version = version
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.version))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SnapshotFooterRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.version,) = wire.unpack_int16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
