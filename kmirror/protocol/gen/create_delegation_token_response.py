"""CreateDelegationTokenResponse: response, key 38, versions 1-3, flexible from 2.

Generated from schemas/kafka/CreateDelegationTokenResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_qqq, pack_qqq = wire.fused("qqq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreateDelegationTokenResponse(Message):
    """CreateDelegationTokenResponse, versions 1-3."""

    error_code: int = 0  # int16
    principal_type: str = ""  # string
    principal_name: str = ""  # string
    token_requester_principal_type: str = ""  # string, v3+
    token_requester_principal_name: str = ""  # string, v3+
    issue_timestamp_ms: int = 0  # int64
    expiry_timestamp_ms: int = 0  # int64
    max_timestamp_ms: int = 0  # int64
    token_id: str = ""  # string
    hmac: bytes = b""  # bytes
    throttle_time_ms: int = 0  # int32

    NAME: ClassVar[str] = "CreateDelegationTokenResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field("PrincipalType", "principal_type", "string", (1, 3), default=""),
        Field("PrincipalName", "principal_name", "string", (1, 3), default=""),
        Field("TokenRequesterPrincipalType", "token_requester_principal_type", "string", (3, 3), default=""),
        Field("TokenRequesterPrincipalName", "token_requester_principal_name", "string", (3, 3), default=""),
        Field("IssueTimestampMs", "issue_timestamp_ms", "int64", (1, 3), default=0),
        Field("ExpiryTimestampMs", "expiry_timestamp_ms", "int64", (1, 3), default=0),
        Field("MaxTimestampMs", "max_timestamp_ms", "int64", (1, 3), default=0),
        Field("TokenId", "token_id", "string", (1, 3), default=""),
        Field("Hmac", "hmac", "bytes", (1, 3), default=b""),
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 3), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
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
        put(pack_qqq(self.issue_timestamp_ms, self.expiry_timestamp_ms, self.max_timestamp_ms))
        put((wire.compact_string if version >= 2 else wire.string)(self.token_id))
        (wire.put_compact_bytes if version >= 2 else wire.put_bytes)(put, self.hmac)
        put(wire.pack_int32(self.throttle_time_ms))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateDelegationTokenResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
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
        (
            self.issue_timestamp_ms,
            self.expiry_timestamp_ms,
            self.max_timestamp_ms,
        ) = unpack_qqq(buf, pos)
        pos += 24
        self.token_id, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.hmac, pos = (wire.read_compact_bytes if version >= 2 else wire.read_bytes)(buf, pos)
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
