"""ControlRecordTypeSchema: data, versions 0, never flexible.

Generated from schemas/kafka/ControlRecordTypeSchema.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ControlRecordTypeSchema(Message):
    """ControlRecordTypeSchema, versions 0."""

    __slots__ = ("type",)

    NAME = "ControlRecordTypeSchema"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("Type", "type", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        type: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.type = type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.type))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ControlRecordTypeSchema, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.type,) = wire.unpack_int16(buf, pos)
        pos += 2
        return self, pos
