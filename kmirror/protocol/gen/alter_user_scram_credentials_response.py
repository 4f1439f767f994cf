"""AlterUserScramCredentialsResponse: response, key 51, versions 0, flexible from 0.

Generated from schemas/kafka/AlterUserScramCredentialsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterUserScramCredentialsResult(Struct):
    """Part of AlterUserScramCredentialsResponse."""

    user: str = ""  # string
    error_code: int = 0  # int16
    error_message: str | None = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("User", "user", "string", (0, 0), default=""),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.user))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterUserScramCredentialsResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.user, pos = wire.read_compact_string(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterUserScramCredentialsResponse(Message):
    """AlterUserScramCredentialsResponse, versions 0."""

    throttle_time_ms: int = 0  # int32
    results: list[AlterUserScramCredentialsResult] = field(default_factory=list)  # []AlterUserScramCredentialsResult

    NAME: ClassVar[str] = "AlterUserScramCredentialsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field(
            "Results",
            "results",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=AlterUserScramCredentialsResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.results))
        for alter_user_scram_credentials_result in self.results:
            alter_user_scram_credentials_result._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterUserScramCredentialsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.results, pos = wire.read_structs(AlterUserScramCredentialsResult._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
