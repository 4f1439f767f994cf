"""DescribeDelegationTokenResponse: response, key 41, versions 1-3, flexible from 2.

Generated from schemas/kafka/DescribeDelegationTokenResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_qqq, pack_qqq = wire.fused("qqq")


class DescribedDelegationTokenRenewer(Struct):
    """Part of DescribeDelegationTokenResponse."""

    __slots__ = ("principal_type", "principal_name")

    FIELDS = (
        Field("PrincipalType", "principal_type", "string", (1, 3), default=""),
        Field("PrincipalName", "principal_name", "string", (1, 3), default=""),
    )

    def __init__(
        self,
        principal_type: str = "",  # string
        principal_name: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.principal_type = principal_type
        self.principal_name = principal_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_name))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedDelegationTokenRenewer, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.principal_type, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.principal_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribedDelegationToken(Struct):
    """Part of DescribeDelegationTokenResponse."""

    __slots__ = (
        "principal_type",
        "principal_name",
        "token_requester_principal_type",
        "token_requester_principal_name",
        "issue_timestamp",
        "expiry_timestamp",
        "max_timestamp",
        "token_id",
        "hmac",
        "renewers",
    )

    FIELDS = (
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

    def __init__(
        self,
        principal_type: str = "",  # string
        principal_name: str = "",  # string
        token_requester_principal_type: str = "",  # string, v3+
        token_requester_principal_name: str = "",  # string, v3+
        issue_timestamp: int = 0,  # int64
        expiry_timestamp: int = 0,  # int64
        max_timestamp: int = 0,  # int64
        token_id: str = "",  # string
        hmac: bytes = b"",  # bytes
        renewers: list[DescribedDelegationTokenRenewer] = UNSET,  # []DescribedDelegationTokenRenewer
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = [] if renewers is UNSET else renewers
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribedDelegationToken, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DescribeDelegationTokenResponse(Message):
    """DescribeDelegationTokenResponse, versions 1-3."""

    __slots__ = ("error_code", "tokens", "throttle_time_ms")

    NAME = "DescribeDelegationTokenResponse"
    TYPE = "response"
    API_KEY = 41
    MIN_VERSION = 1
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
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

    def __init__(
        self,
        error_code: int = 0,  # int16
        tokens: list[DescribedDelegationToken] = UNSET,  # []DescribedDelegationToken
        throttle_time_ms: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.tokens = [] if tokens is UNSET else tokens
        self.throttle_time_ms = throttle_time_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_count if version >= 2 else wire.count)(self.tokens))
        for described_delegation_token in self.tokens:
            described_delegation_token._write(put, version)
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeDelegationTokenResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 30)
        self.tokens, pos = wire.read_structs(DescribedDelegationToken._read, buf, pos, n, version)
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
