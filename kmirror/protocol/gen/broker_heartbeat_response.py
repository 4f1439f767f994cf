"""BrokerHeartbeatResponse: response, key 63, versions 0-2, flexible from 0.

Generated from schemas/kafka/BrokerHeartbeatResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_ihooo, pack_ihooo = wire.fused("ih???")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class BrokerHeartbeatResponse(Message):
    """BrokerHeartbeatResponse, versions 0-2."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    is_caught_up: bool = False  # bool
    is_fenced: bool = True  # bool
    should_shut_down: bool = False  # bool

    NAME: ClassVar[str] = "BrokerHeartbeatResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 63
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("IsCaughtUp", "is_caught_up", "bool", (0, 2), default=False),
        Field("IsFenced", "is_fenced", "bool", (0, 2), default=True),
        Field("ShouldShutDown", "should_shut_down", "bool", (0, 2), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihooo(
            self.throttle_time_ms,
            self.error_code,
            self.is_caught_up,
            self.is_fenced,
            self.should_shut_down,
        ))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerHeartbeatResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (
            self.throttle_time_ms,
            self.error_code,
            self.is_caught_up,
            self.is_fenced,
            self.should_shut_down,
        ) = unpack_ihooo(buf, pos)
        pos += 9
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
