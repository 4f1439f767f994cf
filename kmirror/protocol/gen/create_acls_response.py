"""CreateAclsResponse: response, key 30, versions 1-3, flexible from 2.

Generated from schemas/kafka/CreateAclsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AclCreationResult(Struct):
    """Part of CreateAclsResponse."""

    error_code: int = 0  # int16
    error_message: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 3), nullable=(1, 3), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AclCreationResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreateAclsResponse(Message):
    """CreateAclsResponse, versions 1-3."""

    throttle_time_ms: int = 0  # int32
    results: list[AclCreationResult] = field(default_factory=list)  # []AclCreationResult

    NAME: ClassVar[str] = "CreateAclsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 30
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 3), default=0),
        Field("Results", "results", "struct", (1, 3), is_array=True, default=[], struct=AclCreationResult),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.results))
        for acl_creation_result in self.results:
            acl_creation_result._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateAclsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.results, pos = wire.read_structs(AclCreationResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
