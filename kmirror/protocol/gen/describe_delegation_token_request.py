"""DescribeDelegationTokenRequest: request, key 41, versions 1-3, flexible from 2.

Generated from schemas/kafka/DescribeDelegationTokenRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class DescribeDelegationTokenOwner(Struct):
    """Part of DescribeDelegationTokenRequest."""

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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeDelegationTokenOwner, int]:
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


class DescribeDelegationTokenRequest(Message):
    """DescribeDelegationTokenRequest, versions 1-3."""

    __slots__ = ("owners",)

    NAME = "DescribeDelegationTokenRequest"
    TYPE = "request"
    API_KEY = 41
    MIN_VERSION = 1
    MAX_VERSION = 3
    FLEXIBLE_FROM = 2
    FIELDS = (
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

    def __init__(
        self,
        owners: list[DescribeDelegationTokenOwner] | None = UNSET,  # []DescribeDelegationTokenOwner
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.owners = [] if owners is UNSET else owners
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_count if version >= 2 else wire.nullable_count)(self.owners))
        for describe_delegation_token_owner in self.owners or ():
            describe_delegation_token_owner._write(put, version)
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeDelegationTokenRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = (wire.read_compact_nullable_count if version >= 2 else wire.read_nullable_count)(buf, pos, 3)
        if n < 0:
            self.owners = None
        else:
            self.owners, pos = wire.read_structs(DescribeDelegationTokenOwner._read, buf, pos, n, version)
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
