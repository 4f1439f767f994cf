"""FindCoordinatorResponse: response, key 10, versions 0-7, flexible from 3.

Generated from schemas/kafka/FindCoordinatorResponse.json and schemas/mirroring/FindCoordinatorResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class Coordinator(Struct):
    """Part of FindCoordinatorResponse, v4+."""

    __slots__ = ("key", "node_id", "host", "port", "error_code", "error_message")

    FIELDS = (
        Field("Key", "key", "string", (4, 7), default=""),
        Field("NodeId", "node_id", "int32", (4, 7), default=0, entity="brokerId"),
        Field("Host", "host", "string", (4, 7), default=""),
        Field("Port", "port", "int32", (4, 7), default=0),
        Field("ErrorCode", "error_code", "int16", (4, 7), default=0),
        Field("ErrorMessage", "error_message", "string", (4, 7), nullable=(4, 7), default="", ignorable=True),
    )

    def __init__(
        self,
        # Group, transactional id, share partition or mirror.
        key: str = "",  # string
        # Id of the broker.
        node_id: int = 0,  # int32, brokerId
        # Host to connect to.
        host: str = "",  # string
        # Port to connect to.
        port: int = 0,  # int32
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16
        # What went wrong, null if all is well.
        error_message: str | None = "",  # string, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.key = key
        self.node_id = node_id
        self.host = host
        self.port = port
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.key))
        put(wire.pack_int32(self.node_id))
        put(wire.compact_string(self.host))
        put(pack_ih(self.port, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Coordinator, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.key, pos = wire.read_compact_string(buf, pos)
        (self.node_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.host, pos = wire.read_compact_string(buf, pos)
        self.port, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class FindCoordinatorResponse(Message):
    """The coordinators that were asked for."""

    __slots__ = ("throttle_time_ms", "error_code", "error_message", "node_id", "host", "port", "coordinators")

    NAME = "FindCoordinatorResponse"
    TYPE = "response"
    API_KEY = 10
    MIN_VERSION = 0
    MAX_VERSION = 7
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 7), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 3), nullable=(1, 3), default="", ignorable=True),
        Field("NodeId", "node_id", "int32", (0, 3), default=0, entity="brokerId"),
        Field("Host", "host", "string", (0, 3), default=""),
        Field("Port", "port", "int32", (0, 3), default=0),
        Field(
            "Coordinators",
            "coordinators",
            "struct",
            (4, 7),
            is_array=True,
            default=[],
            struct=Coordinator,
        ),
    )

    def __init__(
        self,
        # How long the broker held the answer back because of a quota, in milliseconds.
        throttle_time_ms: int = 0,  # int32, v1+, ignorable
        # Error code, 0 if all is well.
        error_code: int = 0,  # int16, v0-3
        # What went wrong, null if all is well.
        error_message: str | None = "",  # string, v1-3, ignorable
        # Id of the broker.
        node_id: int = 0,  # int32, v0-3, brokerId
        # Host to connect to.
        host: str = "",  # string, v0-3
        # Port to connect to.
        port: int = 0,  # int32, v0-3
        # One entry for each key.
        coordinators: list[Coordinator] = UNSET,  # []Coordinator, v4+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.node_id = node_id
        self.host = host
        self.port = port
        self.coordinators = [] if coordinators is UNSET else coordinators
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 1:
            put(wire.pack_int32(self.throttle_time_ms))
        if version <= 3:
            put(wire.pack_int16(self.error_code))
        elif self.error_code:
            raise wire.Unwritable
        if 1 <= version <= 3:
            put((wire.compact_nullable_string if version >= 3 else wire.nullable_string)(self.error_message))
        if version <= 3:
            put(wire.pack_int32(self.node_id))
        elif self.node_id:
            raise wire.Unwritable
        if version <= 3:
            put((wire.compact_string if version >= 3 else wire.string)(self.host))
        elif self.host:
            raise wire.Unwritable
        if version <= 3:
            put(wire.pack_int32(self.port))
        elif self.port:
            raise wire.Unwritable
        if version >= 4:
            put(wire.compact_count(self.coordinators))
            for coordinator in self.coordinators:
                coordinator._write(put, version)
        elif self.coordinators:
            raise wire.Unwritable
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[FindCoordinatorResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 1:
            (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.throttle_time_ms = 0
        if version <= 3:
            (self.error_code,) = wire.unpack_int16(buf, pos)
            pos += 2
        else:
            self.error_code = 0
        if 1 <= version <= 3:
            self.error_message, pos = (wire.read_compact_nullable_string if version >= 3 else wire.read_nullable_string)(buf, pos)
        else:
            self.error_message = ""
        if version <= 3:
            (self.node_id,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.node_id = 0
        if version <= 3:
            self.host, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        else:
            self.host = ""
        if version <= 3:
            (self.port,) = wire.unpack_int32(buf, pos)
            pos += 4
        else:
            self.port = 0
        if version >= 4:
            n, pos = wire.read_compact_count(buf, pos, 14)
            self.coordinators, pos = wire.read_structs(Coordinator._read, buf, pos, n, version)
        else:
            self.coordinators = []
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
