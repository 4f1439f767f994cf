"""RenewDelegationTokenResponse: response, key 39, versions 1-2, flexible from 2.

Generated from schemas/kafka/RenewDelegationTokenResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_hqi, pack_hqi = wire.fused("hqi")


class RenewDelegationTokenResponse(Message):
    """RenewDelegationTokenResponse, versions 1-2."""

    __slots__ = ("error_code", "expiry_timestamp_ms", "throttle_time_ms")

    NAME = "RenewDelegationTokenResponse"
    TYPE = "response"
    API_KEY = 39
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (1, 2), default=0),
        Field("ExpiryTimestampMs", "expiry_timestamp_ms", "int64", (1, 2), default=0),
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 2), default=0),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        expiry_timestamp_ms: int = 0,  # int64
        throttle_time_ms: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.throttle_time_ms = throttle_time_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hqi(self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RenewDelegationTokenResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.error_code, self.expiry_timestamp_ms, self.throttle_time_ms = unpack_hqi(buf, pos)
        pos += 14
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
