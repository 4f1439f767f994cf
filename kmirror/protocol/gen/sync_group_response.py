"""SyncGroupResponse: response, key 14, versions 0-5, flexible from 4.

Generated from schemas/kafka/SyncGroupResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class SyncGroupResponse(Message):
    """SyncGroupResponse, versions 0-5."""

    throttle_time_ms: int = 0  # int32, v1+, ignorable
    error_code: int = 0  # int16
    protocol_type: str | None = None  # string, v5+, ignorable
    protocol_name: str | None = None  # string, v5+, ignorable
    assignment: bytes = b""  # bytes

    NAME: ClassVar[str] = "SyncGroupResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 14
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 4
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 5), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
        Field("ProtocolType", "protocol_type", "string", (5, 5), nullable=(5, 5), ignorable=True),
        Field("ProtocolName", "protocol_name", "string", (5, 5), nullable=(5, 5), ignorable=True),
        Field("Assignment", "assignment", "bytes", (0, 5), default=b""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.pack_int32(self.throttle_time_ms))
        put(wire.pack_int16(self.error_code))
        if version >= 5:
            put(wire.compact_nullable_string(self.protocol_type))
        if version >= 5:
            put(wire.compact_nullable_string(self.protocol_name))
        (wire.put_compact_bytes if version >= 4 else wire.put_bytes)(put, self.assignment)
        if version >= 4:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SyncGroupResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        if version >= 1:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        if version >= 5:
            self.protocol_type, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.protocol_type = None
        if version >= 5:
            self.protocol_name, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.protocol_name = None
        self.assignment, pos = (wire.read_compact_bytes if version >= 4 else wire.read_bytes)(buf, pos)
        if version >= 4:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
