"""ExpireDelegationTokenRequest: request, key 40, versions 1-2, flexible from 2.

Generated from schemas/kafka/ExpireDelegationTokenRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ExpireDelegationTokenRequest(Message):
    """ExpireDelegationTokenRequest, versions 1-2."""

    hmac: bytes = b""  # bytes
    expiry_time_period_ms: int = 0  # int64

    NAME: ClassVar[str] = "ExpireDelegationTokenRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 40
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Hmac", "hmac", "bytes", (1, 2), default=b""),
        Field("ExpiryTimePeriodMs", "expiry_time_period_ms", "int64", (1, 2), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        (wire.put_compact_bytes if version >= 2 else wire.put_bytes)(put, self.hmac)
        put(wire.pack_int64(self.expiry_time_period_ms))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ExpireDelegationTokenRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.hmac, pos = (wire.read_compact_bytes if version >= 2 else wire.read_bytes)(buf, pos)
        (self.expiry_time_period_ms,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
