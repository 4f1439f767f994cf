"""ConsumerGroupRegularExpressionValue: coordinator-value, key 16, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupRegularExpressionValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_qq, pack_qq = wire.fused("qq")


class ConsumerGroupRegularExpressionValue(Message):
    """ConsumerGroupRegularExpressionValue, versions 0."""

    __slots__ = ("topics", "version", "timestamp")

    NAME = "ConsumerGroupRegularExpressionValue"
    TYPE = "coordinator-value"
    API_KEY = 16
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Topics", "topics", "string", (0, 0), is_array=True, default=[]),
        Field("Version", "version", "int64", (0, 0), default=0),
        Field("Timestamp", "timestamp", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        topics: list[str] = UNSET,  # []string
        version: int = 0,  # int64
        timestamp: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.topics = [] if topics is UNSET else topics
        self.version = version
        self.timestamp = timestamp
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for text in self.topics:
            put(wire.compact_string(text))
        put(pack_qq(self.version, self.timestamp))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupRegularExpressionValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.topics, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        self.version, self.timestamp = unpack_qq(buf, pos)
        pos += 16
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
