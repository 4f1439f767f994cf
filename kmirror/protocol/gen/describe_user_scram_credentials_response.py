"""DescribeUserScramCredentialsResponse: response, key 50, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeUserScramCredentialsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_bi, pack_bi = wire.fused("bi")
unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CredentialInfo(Struct):
    """Part of DescribeUserScramCredentialsResponse."""

    mechanism: int = 0  # int8
    iterations: int = 0  # int32

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Mechanism", "mechanism", "int8", (0, 0), default=0),
        Field("Iterations", "iterations", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_bi(self.mechanism, self.iterations))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CredentialInfo, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.mechanism, self.iterations = unpack_bi(buf, pos)
        pos += 5
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeUserScramCredentialsResult(Struct):
    """Part of DescribeUserScramCredentialsResponse."""

    user: str = ""  # string
    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    credential_infos: list[CredentialInfo] = field(default_factory=list)  # []CredentialInfo

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("User", "user", "string", (0, 0), default=""),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0), default=""),
        Field(
            "CredentialInfos",
            "credential_infos",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=CredentialInfo,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.user))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.credential_infos))
        for credential_info in self.credential_infos:
            credential_info._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeUserScramCredentialsResult, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.user, pos = wire.read_compact_string(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.credential_infos, pos = wire.read_structs(CredentialInfo._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeUserScramCredentialsResponse(Message):
    """DescribeUserScramCredentialsResponse, versions 0."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    error_message: str | None = ""  # string
    results: list[DescribeUserScramCredentialsResult] = field(default_factory=list)  # []DescribeUserScramCredentialsResult

    NAME: ClassVar[str] = "DescribeUserScramCredentialsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0), default=""),
        Field(
            "Results",
            "results",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=DescribeUserScramCredentialsResult,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.results))
        for describe_user_scram_credentials_result in self.results:
            describe_user_scram_credentials_result._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeUserScramCredentialsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.results, pos = wire.read_structs(DescribeUserScramCredentialsResult._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
