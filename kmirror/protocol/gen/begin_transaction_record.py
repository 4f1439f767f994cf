"""BeginTransactionRecord: metadata, key 23, versions 0, flexible from 0.

Generated from schemas/metadata/BeginTransactionRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Tagged
from kmirror.protocol.wire import UnknownTag


class BeginTransactionRecord(Message):
    """BeginTransactionRecord, versions 0."""

    __slots__ = ()

    name = Tagged[str | None]("name", None)

    NAME = "BeginTransactionRecord"
    TYPE = "metadata"
    API_KEY = 23
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Name", "name", "string", (0, 0), nullable=(0, 0), tagged=(0, 0), tag=0),
    )

    def __init__(
        self,
        name: str | None = None,  # string, tag 0
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        if name is not None:
            self.name = name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if "name" in tagged and tagged["name"] is not None:
            tags.append(wire.tag(0, wire.compact_nullable_string(tagged["name"])))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 1)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BeginTransactionRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                tagged["name"], pos = wire.read_compact_nullable_string(buf, pos)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
