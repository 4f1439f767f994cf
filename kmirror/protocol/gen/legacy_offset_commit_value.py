"""LegacyOffsetCommitValue: coordinator-value, key 0, versions 0, never flexible.

Generated from schemas/coordinator/LegacyOffsetCommitValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class LegacyOffsetCommitValue(Message):
    """LegacyOffsetCommitValue, versions 0."""

    __slots__ = ("offset", "metadata", "commit_timestamp")

    NAME = "LegacyOffsetCommitValue"
    TYPE = "coordinator-value"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("offset", "offset", "int64", (0, 0), default=0),
        Field("metadata", "metadata", "string", (0, 0), default=""),
        Field("commitTimestamp", "commit_timestamp", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        offset: int = 0,  # int64
        metadata: str = "",  # string
        commit_timestamp: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.offset = offset
        self.metadata = metadata
        self.commit_timestamp = commit_timestamp
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int64(self.offset))
        put(wire.string(self.metadata))
        put(wire.pack_int64(self.commit_timestamp))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[LegacyOffsetCommitValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.offset,) = wire.unpack_int64(buf, pos)
        pos += 8
        self.metadata, pos = wire.read_string(buf, pos)
        (self.commit_timestamp,) = wire.unpack_int64(buf, pos)
        pos += 8
        return self, pos
