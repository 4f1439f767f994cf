"""FindCoordinatorRequest: request, key 10, versions 0-7, flexible from 3.

Generated from schemas/kafka/FindCoordinatorRequest.json and schemas/mirroring/FindCoordinatorRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class FindCoordinatorRequest(Message):
    """Asks who coordinates a group, a transactional id, a share partition or a mirror."""

    __slots__ = ("key", "key_type", "coordinator_keys")

    NAME = "FindCoordinatorRequest"
    TYPE = "request"
    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 7
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("Key", "key", "string", (0, 3), default=""),
        Field("KeyType", "key_type", "int8", (1, 7), default=0),
        Field("CoordinatorKeys", "coordinator_keys", "string", (4, 7), is_array=True, default=[]),
    )

    def __init__(
        self,
        # Group, transactional id, share partition or mirror.
        key: str = "",  # string, v0-3
        # 0 group, 1 transaction, 2 share, 3 mirror.
        key_type: int = 0,  # int8, v1+
        # Whose coordinators are asked for.
        coordinator_keys: list[str] = UNSET,  # []string, v4+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.key = key
        self.key_type = key_type
        self.coordinator_keys = [] if coordinator_keys is UNSET else coordinator_keys
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FindCoordinatorRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
