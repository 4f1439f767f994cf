"""RemoveDelegationTokenRecord: metadata, key 26, versions 0, flexible from 0.

Generated from schemas/metadata/RemoveDelegationTokenRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class RemoveDelegationTokenRecord(Message):
    """RemoveDelegationTokenRecord, versions 0."""

    __slots__ = ("token_id",)

    NAME = "RemoveDelegationTokenRecord"
    TYPE = "metadata"
    API_KEY = 26
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("TokenId", "token_id", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        token_id: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.token_id = token_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.token_id))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RemoveDelegationTokenRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.token_id, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
