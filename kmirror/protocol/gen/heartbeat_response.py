"""HeartbeatResponse: response, key 12, versions 0-4, flexible from 4.

Generated from schemas/kafka/HeartbeatResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class HeartbeatResponse(Message):
    """HeartbeatResponse, versions 0-4."""

    throttle_time_ms: int = 0  # int32, v1+, ignorable
    error_code: int = 0  # int16

    NAME: ClassVar[str] = "HeartbeatResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 12
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 4), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 4), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.pack_int32(self.throttle_time_ms))
        put(wire.pack_int16(self.error_code))
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[HeartbeatResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version >= 1:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
