"""RemoveUserScramCredentialRecord: metadata, key 22, versions 0, flexible from 0.

Generated from schemas/metadata/RemoveUserScramCredentialRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class RemoveUserScramCredentialRecord(Message):
    """RemoveUserScramCredentialRecord, versions 0."""

    __slots__ = ("name", "mechanism")

    NAME = "RemoveUserScramCredentialRecord"
    TYPE = "metadata"
    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Mechanism", "mechanism", "int8", (0, 0), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        mechanism: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.mechanism = mechanism
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.pack_int8(self.mechanism))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoveUserScramCredentialRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        (self.mechanism,) = wire.unpack_int8(buf, pos)
        pos += 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
