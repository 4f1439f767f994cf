"""ShareGroupMetadataValue: coordinator-value, key 11, versions 0, flexible from 0.

Generated from schemas/coordinator/ShareGroupMetadataValue.json.
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


class ShareGroupMetadataValue(Message):
    """ShareGroupMetadataValue, versions 0."""

    __slots__ = ("epoch", "metadata_hash")

    NAME = "ShareGroupMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Epoch", "epoch", "int32", (0, 0), default=0),
        Field("MetadataHash", "metadata_hash", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        epoch: int = 0,  # int32
        metadata_hash: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.epoch = epoch
        self.metadata_hash = metadata_hash
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.epoch, self.metadata_hash))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ShareGroupMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.epoch, self.metadata_hash = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
