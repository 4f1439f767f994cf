"""PushTelemetryResponse: response, key 72, versions 0, flexible from 0.

Generated from schemas/kafka/PushTelemetryResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_ih, pack_ih = wire.fused("ih")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PushTelemetryResponse(Message):
    """PushTelemetryResponse, versions 0."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16

    NAME: ClassVar[str] = "PushTelemetryResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PushTelemetryResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
