"""RenewDelegationTokenResponse: response, key 39, versions 1-2, flexible from 2.

Generated from schemas/kafka/RenewDelegationTokenResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_hqi, pack_hqi = wire.fused("hqi")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class RenewDelegationTokenResponse(Message):
    """RenewDelegationTokenResponse, versions 1-2."""

    error_code: int = 0  # int16
    expiry_timestamp_ms: int = 0  # int64
    throttle_time_ms: int = 0  # int32

    NAME: ClassVar[str] = "RenewDelegationTokenResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 39
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
        Field("ExpiryTimestampMs", "expiry_timestamp_ms", "int64", (1, 2), default=0),
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 2), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hqi(self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RenewDelegationTokenResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms = unpack_hqi(buf, pos)
        pos += 14
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
