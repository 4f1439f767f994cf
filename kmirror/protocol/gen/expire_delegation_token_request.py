"""ExpireDelegationTokenRequest: request, key 40, versions 1-2, flexible from 2.

Generated from schemas/kafka/ExpireDelegationTokenRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class ExpireDelegationTokenRequest(Message):
    """ExpireDelegationTokenRequest, versions 1-2."""

    __slots__ = ("hmac", "expiry_time_period_ms")

    NAME = "ExpireDelegationTokenRequest"
    TYPE = "request"
    API_KEY = 40
    MIN_VERSION = 1
    MAX_VERSION = 2
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("Hmac", "hmac", "bytes", (1, 2), default=b""),
        Field("ExpiryTimePeriodMs", "expiry_time_period_ms", "int64", (1, 2), default=0),
    )

    def __init__(
        self,
        hmac: bytes = b"",  # bytes
        expiry_time_period_ms: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.hmac = hmac
        self.expiry_time_period_ms = expiry_time_period_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        (wire.put_compact_bytes if version >= 2 else wire.put_bytes)(put, self.hmac)
        put(wire.pack_int64(self.expiry_time_period_ms))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ExpireDelegationTokenRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.hmac, pos = (wire.read_compact_bytes if version >= 2 else wire.read_bytes)(buf, pos)
        (self.expiry_time_period_ms,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
