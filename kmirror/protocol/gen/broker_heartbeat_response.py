"""BrokerHeartbeatResponse: response, key 63, versions 0-2, flexible from 0.

Generated from schemas/kafka/BrokerHeartbeatResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_ihooo, pack_ihooo = wire.fused("ih???")


class BrokerHeartbeatResponse(Message):
    """BrokerHeartbeatResponse, versions 0-2."""

    __slots__ = ("throttle_time_ms", "error_code", "is_caught_up", "is_fenced", "should_shut_down")

    NAME = "BrokerHeartbeatResponse"
    TYPE = "response"
    API_KEY = 63
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("IsCaughtUp", "is_caught_up", "bool", (0, 2), default=False),
        Field("IsFenced", "is_fenced", "bool", (0, 2), default=True),
        Field("ShouldShutDown", "should_shut_down", "bool", (0, 2), default=False),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        is_caught_up: bool = False,  # bool
        is_fenced: bool = True,  # bool
        should_shut_down: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.is_caught_up = is_caught_up
        self.is_fenced = is_fenced
        self.should_shut_down = should_shut_down
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihooo(
            self.throttle_time_ms,
            self.error_code,
            self.is_caught_up,
            self.is_fenced,
            self.should_shut_down,
        ))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerHeartbeatResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.throttle_time_ms,
            self.error_code,
            self.is_caught_up,
            self.is_fenced,
            self.should_shut_down,
        ) = unpack_ihooo(buf, pos)
        pos += 9
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
