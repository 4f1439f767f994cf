"""DescribeUserScramCredentialsRequest: request, key 50, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeUserScramCredentialsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class UserName(Struct):
    """Part of DescribeUserScramCredentialsRequest."""

    __slots__ = ("name",)

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        name: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UserName, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeUserScramCredentialsRequest(Message):
    """DescribeUserScramCredentialsRequest, versions 0."""

    __slots__ = ("users",)

    NAME = "DescribeUserScramCredentialsRequest"
    TYPE = "request"
    API_KEY = 50
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        users: list[UserName] | None = UNSET,  # []UserName
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.users = [] if users is UNSET else users
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_count(self.users))
        for user_name in self.users or ():
            user_name._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeUserScramCredentialsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_nullable_count(buf, pos, 2)
        if n < 0:
            self.users = None
        else:
            self.users, pos = wire.read_structs(UserName._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
