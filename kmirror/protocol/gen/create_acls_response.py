"""CreateAclsResponse: response, key 30, versions 1-3, flexible from 2.

Generated from schemas/kafka/CreateAclsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class AclCreationResult(Struct):
    """Part of CreateAclsResponse."""

    __slots__ = ("error_code", "error_message")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 3), nullable=(1, 3), default=""),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AclCreationResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class CreateAclsResponse(Message):
    """CreateAclsResponse, versions 1-3."""

    __slots__ = ("throttle_time_ms", "results")

    NAME = "CreateAclsResponse"
    TYPE = "response"
    API_KEY = 30
    MIN_VERSION = 1
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 3), default=0),
        Field("Results", "results", "struct", (1, 3), is_array=True, default=[], struct=AclCreationResult),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        results: list[AclCreationResult] = UNSET,  # []AclCreationResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.results))
        for acl_creation_result in self.results:
            acl_creation_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateAclsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 4)
        self.results, pos = wire.read_structs(AclCreationResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
