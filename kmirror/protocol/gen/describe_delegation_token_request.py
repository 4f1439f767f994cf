"""DescribeDelegationTokenRequest: request, key 41, versions 1-3, flexible from 2.

Generated from schemas/kafka/DescribeDelegationTokenRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeDelegationTokenOwner(Struct):
    """Part of DescribeDelegationTokenRequest."""

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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeDelegationTokenOwner, int]:
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
class DescribeDelegationTokenRequest(Message):
    """DescribeDelegationTokenRequest, versions 1-3."""

    owners: list[DescribeDelegationTokenOwner] | None = field(default_factory=list)  # []DescribeDelegationTokenOwner

    NAME: ClassVar[str] = "DescribeDelegationTokenRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 41
    MIN_VERSION: ClassVar[int] = 1
    MAX_VERSION: ClassVar[int] = 3
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "Owners",
            "owners",
            "struct",
            (1, 3),
            is_array=True,
            nullable=(1, 3),
            default=[],
            struct=DescribeDelegationTokenOwner,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_count if version >= 2 else wire.nullable_count)(self.owners))
        for describe_delegation_token_owner in self.owners or ():
            describe_delegation_token_owner._write(put, version)
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeDelegationTokenRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = (wire.read_compact_nullable_count if version >= 2 else wire.read_nullable_count)(buf, pos, 3)
        if n < 0:
            self.owners = None
        else:
            self.owners, pos = wire.read_structs(DescribeDelegationTokenOwner._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
