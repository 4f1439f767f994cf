"""FindCoordinatorRequest: request, key 10, versions 0-7, flexible from 3.

Generated from schemas/kafka/FindCoordinatorRequest.json and schemas/mirroring/FindCoordinatorRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class FindCoordinatorRequest(Message):
    """FindCoordinatorRequest, versions 0-7."""

    key: str = ""  # string, v0-3
    key_type: int = 0  # int8, v1+
    coordinator_keys: list[str] = field(default_factory=list)  # []string, v4+

    NAME: ClassVar[str] = "FindCoordinatorRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 10
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 7
    FLEXIBLE_FROM: ClassVar[int | None] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Key", "key", "string", (0, 3), default=""),
        Field("KeyType", "key_type", "int8", (1, 7), default=0),
        Field("CoordinatorKeys", "coordinator_keys", "string", (4, 7), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version <= 3:
            put((wire.compact_string if version >= 3 else wire.string)(self.key))
        elif self.key:
            raise wire.Unwritable
        if version >= 1:
            put(wire.pack_int8(self.key_type))
        elif self.key_type:
            raise wire.Unwritable
        if version >= 4:
            put(wire.compact_count(self.coordinator_keys))
            for text in self.coordinator_keys:
                put(wire.compact_string(text))
        elif self.coordinator_keys:
            raise wire.Unwritable
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FindCoordinatorRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version <= 3:
            self.key, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        else:
            self.key = ""
        if version >= 1:
            (self.key_type,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.key_type = 0
        if version >= 4:
            n, pos = wire.read_compact_count(buf, pos, 1)
            self.coordinator_keys, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        else:
            self.coordinator_keys = []
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
