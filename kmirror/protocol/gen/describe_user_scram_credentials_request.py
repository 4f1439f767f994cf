"""DescribeUserScramCredentialsRequest: request, key 50, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeUserScramCredentialsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class UserName(Struct):
    """Part of DescribeUserScramCredentialsRequest."""

    name: str = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UserName, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeUserScramCredentialsRequest(Message):
    """DescribeUserScramCredentialsRequest, versions 0."""

    users: list[UserName] | None = field(default_factory=list)  # []UserName

    NAME: ClassVar[str] = "DescribeUserScramCredentialsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 50
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "Users",
            "users",
            "struct",
            (0, 0),
            is_array=True,
            nullable=(0, 0),
            default=[],
            struct=UserName,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_count(self.users))
        for user_name in self.users or ():
            user_name._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeUserScramCredentialsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_nullable_count(buf, pos, 2)
        if n < 0:
            self.users = None
        else:
            self.users, pos = wire.read_structs(UserName._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
