"""ClientQuotaRecord: metadata, key 14, versions 0, flexible from 0.

Generated from schemas/metadata/ClientQuotaRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_do, pack_do = wire.fused("d?")


class EntityData(Struct):
    """Part of ClientQuotaRecord."""

    __slots__ = ("entity_type", "entity_name")

    FIELDS = (
        Field("EntityType", "entity_type", "string", (0, 0), default=""),
        Field("EntityName", "entity_name", "string", (0, 0), nullable=(0, 0), default=""),
    )

    def __init__(
        self,
        entity_type: str = "",  # string
        entity_name: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.entity_type = entity_type
        self.entity_name = entity_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.entity_type))
        put(wire.compact_nullable_string(self.entity_name))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EntityData, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.entity_type, pos = wire.read_compact_string(buf, pos)
        self.entity_name, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ClientQuotaRecord(Message):
    """ClientQuotaRecord, versions 0."""

    __slots__ = ("entity", "key", "value", "remove")

    NAME = "ClientQuotaRecord"
    TYPE = "metadata"
    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Entity", "entity", "struct", (0, 0), is_array=True, default=[], struct=EntityData),
        Field("Key", "key", "string", (0, 0), default=""),
        Field("Value", "value", "float64", (0, 0), default=0.0),
        Field("Remove", "remove", "bool", (0, 0), default=False),
    )

    def __init__(
        self,
        entity: list[EntityData] = UNSET,  # []EntityData
        key: str = "",  # string
        value: float = 0.0,  # float64
        remove: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.entity = [] if entity is UNSET else entity
        self.key = key
        self.value = value
        self.remove = remove
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.entity))
        for entity_data in self.entity:
            entity_data._write(put, version)
        put(wire.compact_string(self.key))
        put(pack_do(self.value, self.remove))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ClientQuotaRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.entity, pos = wire.read_structs(EntityData._read, buf, pos, n, version)
        self.key, pos = wire.read_compact_string(buf, pos)
        self.value, self.remove = unpack_do(buf, pos)
        pos += 9
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
