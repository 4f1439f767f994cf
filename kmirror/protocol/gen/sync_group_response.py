"""SyncGroupResponse: response, key 14, versions 0-5, flexible from 4.

Generated from schemas/kafka/SyncGroupResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class SyncGroupResponse(Message):
    """The member's assignment."""

    __slots__ = ("throttle_time_ms", "error_code", "protocol_type", "protocol_name", "assignment")

    NAME = "SyncGroupResponse"
    TYPE = "response"
    API_KEY = 14
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 4
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 5), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
        Field("ProtocolType", "protocol_type", "string", (5, 5), nullable=(5, 5), ignorable=True),
        Field("ProtocolName", "protocol_name", "string", (5, 5), nullable=(5, 5), ignorable=True),
        Field("Assignment", "assignment", "bytes", (0, 5), default=b""),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v1+, ignorable
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # Kind of protocol, as in consumer.
        protocol_type: str | None = None,  # string, v5+, ignorable
        # The protocol that the group chose.
        protocol_name: str | None = None,  # string, v5+, ignorable
        # The member's assignment, in the form of the group's protocol.
        assignment: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.protocol_type = protocol_type
        self.protocol_name = protocol_name
        self.assignment = assignment
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[SyncGroupResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
