"""CreateDelegationTokenRequest: request, key 38, versions 1-3, flexible from 2.

Generated from schemas/kafka/CreateDelegationTokenRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class CreatableRenewers(Struct):
    """Part of CreateDelegationTokenRequest."""

    __slots__ = ("principal_type", "principal_name")

    FIELDS = (
        Field("PrincipalType", "principal_type", "string", (1, 3), default=""),
        Field("PrincipalName", "principal_name", "string", (1, 3), default=""),
    )

    def __init__(
        self,
        principal_type: str = "",  # string
        principal_name: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.principal_type = principal_type
        self.principal_name = principal_name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_name))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableRenewers, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.principal_type, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.principal_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos


class CreateDelegationTokenRequest(Message):
    """CreateDelegationTokenRequest, versions 1-3."""

    __slots__ = ("owner_principal_type", "owner_principal_name", "renewers", "max_lifetime_ms")

    NAME = "CreateDelegationTokenRequest"
    TYPE = "request"
    API_KEY = 38
    MIN_VERSION = 1
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field("OwnerPrincipalType", "owner_principal_type", "string", (3, 3), nullable=(3, 3), default=""),
        Field("OwnerPrincipalName", "owner_principal_name", "string", (3, 3), nullable=(3, 3), default=""),
        Field("Renewers", "renewers", "struct", (1, 3), is_array=True, default=[], struct=CreatableRenewers),
        Field("MaxLifetimeMs", "max_lifetime_ms", "int64", (1, 3), default=0),
    )

    def __init__(
        self,
        owner_principal_type: str | None = "",  # string, v3+
        owner_principal_name: str | None = "",  # string, v3+
        renewers: list[CreatableRenewers] = UNSET,  # []CreatableRenewers
        max_lifetime_ms: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = [] if renewers is UNSET else renewers
        self.max_lifetime_ms = max_lifetime_ms
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        if version >= 3:
            put(wire.compact_nullable_string(self.owner_principal_type))
        elif self.owner_principal_type != "":
            raise wire.Unwritable
        if version >= 3:
            put(wire.compact_nullable_string(self.owner_principal_name))
        elif self.owner_principal_name != "":
            raise wire.Unwritable
        put((wire.compact_count if version >= 2 else wire.count)(self.renewers))
        for creatable_renewers in self.renewers:
            creatable_renewers._write(put, version)
        put(wire.pack_int64(self.max_lifetime_ms))
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateDelegationTokenRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        if version >= 3:
            self.owner_principal_type, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.owner_principal_type = ""
        if version >= 3:
            self.owner_principal_name, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.owner_principal_name = ""
        n, pos = (wire.read_compact_count if version >= 2 else wire.read_count)(buf, pos, 3)
        self.renewers, pos = wire.read_structs(CreatableRenewers._read, buf, pos, n, version)
        (self.max_lifetime_ms,) = wire.unpack_int64(buf, pos)
        pos += 8
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
