"""EndTxnMarker: data, versions 0, never flexible.

Generated from schemas/kafka/EndTxnMarker.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class EndTxnMarker(Message):
    """EndTxnMarker, versions 0."""

    __slots__ = ("coordinator_epoch",)

    NAME = "EndTxnMarker"
    TYPE = "data"
    API_KEY = None
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("CoordinatorEpoch", "coordinator_epoch", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        coordinator_epoch: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.coordinator_epoch = coordinator_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.coordinator_epoch))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndTxnMarker, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.coordinator_epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        return self, pos
