"""ConsumerGroupMetadataValue: coordinator-value, key 3, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Tagged
from kmirror.protocol.wire import UnknownTag


class ConsumerGroupMetadataValue(Message):
    """ConsumerGroupMetadataValue, versions 0."""

    __slots__ = ("epoch",)

    metadata_hash = Tagged[int]("metadata_hash", 0)

    NAME = "ConsumerGroupMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 3
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Epoch", "epoch", "int32", (0, 0), default=0),
        Field("MetadataHash", "metadata_hash", "int64", (0, 0), tagged=(0, 0), tag=0, default=0),
    )

    def __init__(
        self,
        epoch: int = 0,  # int32
        metadata_hash: int = 0,  # int64, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.epoch = epoch
        if metadata_hash != 0:
            self.metadata_hash = metadata_hash
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "metadata_hash" in tagged and tagged["metadata_hash"]:
            tags.append(wire.tag(0, wire.pack_int64(tagged["metadata_hash"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.epoch,) = wire.unpack_int32(buf, pos)
        pos += 4
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                (tagged["metadata_hash"],) = wire.unpack_int64(buf, pos)
                pos += 8
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
