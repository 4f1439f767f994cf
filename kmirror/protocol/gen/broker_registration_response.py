"""BrokerRegistrationResponse: response, key 62, versions 0-4, flexible from 0.

Generated from schemas/kafka/BrokerRegistrationResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_ihq, pack_ihq = wire.fused("ihq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class BrokerRegistrationResponse(Message):
    """BrokerRegistrationResponse, versions 0-4."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    broker_epoch: int = -1  # int64

    NAME: ClassVar[str] = "BrokerRegistrationResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 62
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 4), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 4), default=0),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 4), default=-1),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihq(self.throttle_time_ms, self.error_code, self.broker_epoch))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerRegistrationResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code, self.broker_epoch = unpack_ihq(buf, pos)
        pos += 14
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
