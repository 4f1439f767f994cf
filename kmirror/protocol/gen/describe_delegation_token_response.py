"""DescribeDelegationTokenResponse: response, key 41, versions 1-3, flexible from 2.

Generated from schemas/kafka/DescribeDelegationTokenResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_qqq, pack_qqq = wire.fused("qqq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribedDelegationTokenRenewer(Struct):
    """Part of DescribeDelegationTokenResponse."""

    principal_type: str = ""  # string
    principal_name: str = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PrincipalType", "principal_type", "string", (1, 3), default=""),
        Field("PrincipalName", "principal_name", "string", (1, 3), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_name))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedDelegationTokenRenewer, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.principal_type, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.principal_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribedDelegationToken(Struct):
    """Part of DescribeDelegationTokenResponse."""

    principal_type: str = ""  # string
    principal_name: str = ""  # string
    token_requester_principal_type: str = ""  # string, v3+
    token_requester_principal_name: str = ""  # string, v3+
    issue_timestamp: int = 0  # int64
    expiry_timestamp: int = 0  # int64
    max_timestamp: int = 0  # int64
    token_id: str = ""  # string
    hmac: bytes = b""  # bytes
    renewers: list[DescribedDelegationTokenRenewer] = field(default_factory=list)  # []DescribedDelegationTokenRenewer

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PrincipalType", "principal_type", "string", (1, 3), default=""),
        Field("PrincipalName", "principal_name", "string", (1, 3), default=""),
        Field("TokenRequesterPrincipalType", "token_requester_principal_type", "string", (3, 3), default=""),
        Field("TokenRequesterPrincipalName", "token_requester_principal_name", "string", (3, 3), default=""),
        Field("IssueTimestamp", "issue_timestamp", "int64", (1, 3), default=0),
        Field("ExpiryTimestamp", "expiry_timestamp", "int64", (1, 3), default=0),
        Field("MaxTimestamp", "max_timestamp", "int64", (1, 3), default=0),
        Field("TokenId", "token_id", "string", (1, 3), default=""),
        Field("Hmac", "hmac", "bytes", (1, 3), default=b""),
        Field(
            "Renewers",
            "renewers",
            "struct",
            (1, 3),
            is_array=True,
            default=[],
            struct=DescribedDelegationTokenRenewer,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_name))
        if version >= 3:
            put(wire.compact_string(self.token_requester_principal_type))
        elif self.token_requester_principal_type:
            raise wire.Unwritable
        if version >= 3:
            put(wire.compact_string(self.token_requester_principal_name))
        elif self.token_requester_principal_name:
            raise wire.Unwritable
        put(pack_qqq(self.issue_timestamp, self.expiry_timestamp, self.max_timestamp))
        put((wire.compact_string if version >= 2 else wire.string)(self.token_id))
        (wire.put_compact_bytes if version >= 2 else wire.put_bytes)(put, self.hmac)
        put((wire.compact_count if version >= 2 else wire.count)(self.renewers))
        for described_delegation_token_renewer in self.renewers:
            described_delegation_token_renewer._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedDelegationToken, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.principal_type, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.principal_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        if version >= 3:
            self.token_requester_principal_type, pos = wire.read_compact_string(buf, pos)
        else:
            self.token_requester_principal_type = ""
        if version >= 3:
            self.token_requester_principal_name, pos = wire.read_compact_string(buf, pos)
        else:
            self.token_requester_principal_name = ""
        self.issue_timestamp, self.expiry_timestamp, self.max_timestamp = unpack_qqq(buf, pos)
        pos += 24
        self.token_id, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.hmac, pos = (wire.read_compact_bytes if version >= 2 else wire.read_bytes)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.renewers, pos = wire.read_structs(DescribedDelegationTokenRenewer._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeDelegationTokenResponse(Message):
    """DescribeDelegationTokenResponse, versions 1-3."""

    error_code: int = 0  # int16
    tokens: list[DescribedDelegationToken] = field(default_factory=list)  # []DescribedDelegationToken
    throttle_time_ms: int = 0  # int32

    NAME: ClassVar[str] = "DescribeDelegationTokenResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field(
            "Tokens",
            "tokens",
            "struct",
            (1, 3),
            is_array=True,
            default=[],
            struct=DescribedDelegationToken,
        ),
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 3), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_count if version >= 2 else wire.count)(self.tokens))
        for described_delegation_token in self.tokens:
            described_delegation_token._write(put, version)
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeDelegationTokenResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 30)
        self.tokens, pos = wire.read_structs(DescribedDelegationToken._read, buf, pos, n, version)
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
