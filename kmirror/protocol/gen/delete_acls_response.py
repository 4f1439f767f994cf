"""DeleteAclsResponse: response, key 31, versions 1-3, flexible from 2.

Generated from schemas/kafka/DeleteAclsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_bb, pack_bb = wire.fused("bb")


class DeleteAclsMatchingAcl(Struct):
    """Part of DeleteAclsResponse."""

    __slots__ = (
        "error_code",
        "error_message",
        "resource_type",
        "resource_name",
        "pattern_type",
        "principal",
        "host",
        "operation",
        "permission_type",
    )

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 3), nullable=(1, 3), default=""),
        Field("ResourceType", "resource_type", "int8", (1, 3), default=0),
        Field("ResourceName", "resource_name", "string", (1, 3), default=""),
        Field("PatternType", "pattern_type", "int8", (1, 3), default=3),
        Field("Principal", "principal", "string", (1, 3), default=""),
        Field("Host", "host", "string", (1, 3), default=""),
        Field("Operation", "operation", "int8", (1, 3), default=0),
        Field("PermissionType", "permission_type", "int8", (1, 3), default=0),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        resource_type: int = 0,  # int8
        resource_name: str = "",  # string
        pattern_type: int = 3,  # int8
        principal: str = "",  # string
        host: str = "",  # string
        operation: int = 0,  # int8
        permission_type: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.pattern_type = pattern_type
        self.principal = principal
        self.host = host
        self.operation = operation
        self.permission_type = permission_type
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        put(wire.pack_int8(self.resource_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.resource_name))
        put(wire.pack_int8(self.pattern_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.principal))
        put((wire.compact_string if version >= 2 else wire.string)(self.host))
        put(pack_bb(self.operation, self.permission_type))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteAclsMatchingAcl, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        (self.resource_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.resource_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        (self.pattern_type,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.principal, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.host, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.operation, self.permission_type = unpack_bb(buf, pos)
        pos += 2
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DeleteAclsFilterResult(Struct):
    """Part of DeleteAclsResponse."""

    __slots__ = ("error_code", "error_message", "matching_acls")

    FIELDS = (
        Field("ErrorCode", "error_code", "int16", (1, 3), default=0),
        Field("ErrorMessage", "error_message", "string", (1, 3), nullable=(1, 3), default=""),
        Field(
            "MatchingAcls",
            "matching_acls",
            "struct",
            (1, 3),
            is_array=True,
            default=[],
            struct=DeleteAclsMatchingAcl,
        ),
    )

    def __init__(
        self,
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        matching_acls: list[DeleteAclsMatchingAcl] = UNSET,  # []DeleteAclsMatchingAcl
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.error_code = error_code
        self.error_message = error_message
        self.matching_acls = [] if matching_acls is UNSET else matching_acls
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.error_code))
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.error_message))
        put((wire.compact_count if version >= 2 else wire.count)(self.matching_acls))
        for delete_acls_matching_acl in self.matching_acls:
            delete_acls_matching_acl._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteAclsFilterResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 11)
        self.matching_acls, pos = wire.read_structs(DeleteAclsMatchingAcl._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class DeleteAclsResponse(Message):
    """DeleteAclsResponse, versions 1-3."""

    __slots__ = ("throttle_time_ms", "filter_results")

    NAME = "DeleteAclsResponse"
    TYPE = "response"
    API_KEY = 31
    MIN_VERSION = 1
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (1, 3), default=0),
        Field(
            "FilterResults",
            "filter_results",
            "struct",
            (1, 3),
            is_array=True,
            default=[],
            struct=DeleteAclsFilterResult,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        filter_results: list[DeleteAclsFilterResult] = UNSET,  # []DeleteAclsFilterResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.filter_results = [] if filter_results is UNSET else filter_results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put((wire.compact_count if version >= 2 else wire.count)(self.filter_results))
        for delete_acls_filter_result in self.filter_results:
            delete_acls_filter_result._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DeleteAclsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 5)
        self.filter_results, pos = wire.read_structs(DeleteAclsFilterResult._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
