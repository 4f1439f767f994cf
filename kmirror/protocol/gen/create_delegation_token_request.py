"""CreateDelegationTokenRequest: request, key 38, versions 1-3, flexible from 2.

Generated from schemas/kafka/CreateDelegationTokenRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreatableRenewers(Struct):
    """Part of CreateDelegationTokenRequest."""

    principal_type: str = ""  # string
    principal_name: str = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("PrincipalType", "principal_type", "string", (1, 3), default=""),
        Field("PrincipalName", "principal_name", "string", (1, 3), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_type))
        put((wire.compact_string if version >= 2 else wire.string)(self.principal_name))
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreatableRenewers, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.principal_type, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        self.principal_name, pos = (wire.read_compact_string if version >= 2 else wire.read_string)(buf, pos)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class CreateDelegationTokenRequest(Message):
    """CreateDelegationTokenRequest, versions 1-3."""

    owner_principal_type: str | None = ""  # string, v3+
    owner_principal_name: str | None = ""  # string, v3+
    renewers: list[CreatableRenewers] = field(default_factory=list)  # []CreatableRenewers
    max_lifetime_ms: int = 0  # int64

    NAME: ClassVar[str] = "CreateDelegationTokenRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 38
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("OwnerPrincipalType", "owner_principal_type", "string", (3, 3), nullable=(3, 3), default=""),
        Field("OwnerPrincipalName", "owner_principal_name", "string", (3, 3), nullable=(3, 3), default=""),
        Field("Renewers", "renewers", "struct", (1, 3), is_array=True, default=[], struct=CreatableRenewers),
        Field("MaxLifetimeMs", "max_lifetime_ms", "int64", (1, 3), default=0),
    )

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
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[CreateDelegationTokenRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
