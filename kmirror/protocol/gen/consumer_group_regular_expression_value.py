"""ConsumerGroupRegularExpressionValue: coordinator-value, key 16, versions 0, flexible from 0.

Generated from schemas/coordinator/ConsumerGroupRegularExpressionValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_qq, pack_qq = wire.fused("qq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ConsumerGroupRegularExpressionValue(Message):
    """ConsumerGroupRegularExpressionValue, versions 0."""

    topics: list[str] = field(default_factory=list)  # []string
    version: int = 0  # int64
    timestamp: int = 0  # int64

    NAME: ClassVar[str] = "ConsumerGroupRegularExpressionValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 16
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Topics", "topics", "string", (0, 0), is_array=True, default=[]),
        Field("Version", "version", "int64", (0, 0), default=0),
        Field("Timestamp", "timestamp", "int64", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.topics))
        for text in self.topics:
            put(wire.compact_string(text))
        put(pack_qq(self.version, self.timestamp))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ConsumerGroupRegularExpressionValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.topics, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        self.version, self.timestamp = unpack_qq(buf, pos)
        pos += 16
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
