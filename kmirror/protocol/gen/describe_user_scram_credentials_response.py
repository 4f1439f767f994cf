"""DescribeUserScramCredentialsResponse: response, key 50, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeUserScramCredentialsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_bi, pack_bi = wire.fused("bi")
unpack_ih, pack_ih = wire.fused("ih")


class CredentialInfo(Struct):
    """Part of DescribeUserScramCredentialsResponse."""

    __slots__ = ("mechanism", "iterations")

    FIELDS = (
        Field("Mechanism", "mechanism", "int8", (0, 0), default=0),
        Field("Iterations", "iterations", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        mechanism: int = 0,  # int8
        iterations: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.mechanism = mechanism
        self.iterations = iterations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_bi(self.mechanism, self.iterations))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CredentialInfo, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.mechanism, self.iterations = unpack_bi(buf, pos)
        pos += 5
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeUserScramCredentialsResult(Struct):
    """Part of DescribeUserScramCredentialsResponse."""

    __slots__ = ("user", "error_code", "error_message", "credential_infos")

    FIELDS = (
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

    def __init__(
        self,
        user: str = "",  # string
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        credential_infos: list[CredentialInfo] = UNSET,  # []CredentialInfo
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = [] if credential_infos is UNSET else credential_infos
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.user))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.credential_infos))
        for credential_info in self.credential_infos:
            credential_info._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeUserScramCredentialsResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.user, pos = wire.read_compact_string(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.credential_infos, pos = wire.read_structs(CredentialInfo._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeUserScramCredentialsResponse(Message):
    """DescribeUserScramCredentialsResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results")

    NAME = "DescribeUserScramCredentialsResponse"
    TYPE = "response"
    API_KEY = 50
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        results: list[DescribeUserScramCredentialsResult] = UNSET,  # []DescribeUserScramCredentialsResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        put(wire.compact_count(self.results))
        for describe_user_scram_credentials_result in self.results:
            describe_user_scram_credentials_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeUserScramCredentialsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.results, pos = wire.read_structs(DescribeUserScramCredentialsResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
