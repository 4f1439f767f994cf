"""AlterUserScramCredentialsResponse: response, key 51, versions 0, flexible from 0.

Generated from schemas/kafka/AlterUserScramCredentialsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag


class AlterUserScramCredentialsResult(Struct):
    """Part of AlterUserScramCredentialsResponse."""

    __slots__ = ("user", "error_code", "error_message")

    FIELDS = (
        Field("User", "user", "string", (0, 0), default=""),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 0), nullable=(0, 0), default=""),
    )

    def __init__(
        self,
        user: str = "",  # string
        error_code: int = 0,  # int16
        error_message: str | None = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.user))
        put(wire.pack_int16(self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterUserScramCredentialsResult, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.user, pos = wire.read_compact_string(buf, pos)
        (self.error_code,) = wire.unpack_int16(buf, pos)
        pos += 2
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterUserScramCredentialsResponse(Message):
    """AlterUserScramCredentialsResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "results")

    NAME = "AlterUserScramCredentialsResponse"
    TYPE = "response"
    API_KEY = 51
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field(
            "Results",
            "results",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=AlterUserScramCredentialsResult,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        results: list[AlterUserScramCredentialsResult] = UNSET,  # []AlterUserScramCredentialsResult
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.results = [] if results is UNSET else results
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.throttle_time_ms))
        put(wire.compact_count(self.results))
        for alter_user_scram_credentials_result in self.results:
            alter_user_scram_credentials_result._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterUserScramCredentialsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.throttle_time_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.results, pos = wire.read_structs(AlterUserScramCredentialsResult._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
