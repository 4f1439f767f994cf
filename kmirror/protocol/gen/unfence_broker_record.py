"""UnfenceBrokerRecord: metadata, key 8, versions 0, flexible from 0.

Generated from schemas/metadata/UnfenceBrokerRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_iq, pack_iq = wire.fused("iq")


class UnfenceBrokerRecord(Message):
    """UnfenceBrokerRecord, versions 0."""

    __slots__ = ("id", "epoch")

    NAME = "UnfenceBrokerRecord"
    TYPE = "metadata"
    API_KEY = 8
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Id", "id", "int32", (0, 0), default=0, entity="brokerId"),
        Field("Epoch", "epoch", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        id: int = 0,  # int32, brokerId
        epoch: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.id = id
        self.epoch = epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.id, self.epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UnfenceBrokerRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.id, self.epoch = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
