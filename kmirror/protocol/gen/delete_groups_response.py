"""DeleteGroupsResponse: response, key 42, versions 0-2, flexible from 2.

Generated from schemas/kafka/DeleteGroupsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeletableGroupResult(Struct):
    """Part of DeleteGroupsResponse."""

    group_id: str = ""  # string, groupId
    error_code: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("GroupId", "group_id", "string", (0, 2), default="", entity="groupId", map_key=True),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.group_id))
        put(wire.pack_int16(self.error_code))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeletableGroupResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.group_id, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DeleteGroupsResponse(Message):
    """DeleteGroupsResponse, versions 0-2."""

    throttle_time_ms: int = 0  # int32
    results: list[DeletableGroupResult] = field(default_factory=list)  # []DeletableGroupResult

    NAME: ClassVar[str] = "DeleteGroupsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 42
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field("Results", "results", "struct", (0, 2), is_array=True, default=[], struct=DeletableGroupResult),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.results))
        for deletable_group_result in self.results:
            deletable_group_result._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteGroupsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.results, pos = wire.read_structs(DeletableGroupResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
