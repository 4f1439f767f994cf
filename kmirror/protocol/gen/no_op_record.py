"""NoOpRecord: metadata, key 20, versions 0, flexible from 0.

Generated from schemas/metadata/NoOpRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.wire import UnknownTag


class NoOpRecord(Message):
    """NoOpRecord, versions 0."""

    __slots__ = ()

    NAME = "NoOpRecord"
    TYPE = "metadata"
    API_KEY = 20
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = ()

    def __init__(
        self,
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[NoOpRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
