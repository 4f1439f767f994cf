"""AlterUserScramCredentialsRequest: request, key 51, versions 0, flexible from 0.

Generated from schemas/kafka/AlterUserScramCredentialsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_bi, pack_bi = wire.fused("bi")


class ScramCredentialDeletion(Struct):
    """Part of AlterUserScramCredentialsRequest."""

    __slots__ = ("name", "mechanism")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Mechanism", "mechanism", "int8", (0, 0), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        mechanism: int = 0,  # int8
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.mechanism = mechanism
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.pack_int8(self.mechanism))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ScramCredentialDeletion, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        (self.mechanism,) = wire.unpack_int8(buf, pos)
        pos += 1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ScramCredentialUpsertion(Struct):
    """Part of AlterUserScramCredentialsRequest."""

    __slots__ = ("name", "mechanism", "iterations", "salt", "salted_password")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Mechanism", "mechanism", "int8", (0, 0), default=0),
        Field("Iterations", "iterations", "int32", (0, 0), default=0),
        Field("Salt", "salt", "bytes", (0, 0), default=b""),
        Field("SaltedPassword", "salted_password", "bytes", (0, 0), default=b""),
    )

    def __init__(
        self,
        name: str = "",  # string
        mechanism: int = 0,  # int8
        iterations: int = 0,  # int32
        salt: bytes = b"",  # bytes
        salted_password: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(pack_bi(self.mechanism, self.iterations))
        wire.put_compact_bytes(put, self.salt)
        wire.put_compact_bytes(put, self.salted_password)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ScramCredentialUpsertion, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.mechanism, self.iterations = unpack_bi(buf, pos)
        pos += 5
        self.salt, pos = wire.read_compact_bytes(buf, pos)
        self.salted_password, pos = wire.read_compact_bytes(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AlterUserScramCredentialsRequest(Message):
    """AlterUserScramCredentialsRequest, versions 0."""

    __slots__ = ("deletions", "upsertions")

    NAME = "AlterUserScramCredentialsRequest"
    TYPE = "request"
    API_KEY = 51
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "Deletions",
            "deletions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=ScramCredentialDeletion,
        ),
        Field(
            "Upsertions",
            "upsertions",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=ScramCredentialUpsertion,
        ),
    )

    def __init__(
        self,
        deletions: list[ScramCredentialDeletion] = UNSET,  # []ScramCredentialDeletion
        upsertions: list[ScramCredentialUpsertion] = UNSET,  # []ScramCredentialUpsertion
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.deletions = [] if deletions is UNSET else deletions
        self.upsertions = [] if upsertions is UNSET else upsertions
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.deletions))
        for scram_credential_deletion in self.deletions:
            scram_credential_deletion._write(put, version)
        put(wire.compact_count(self.upsertions))
        for scram_credential_upsertion in self.upsertions:
            scram_credential_upsertion._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterUserScramCredentialsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.deletions, pos = wire.read_structs(ScramCredentialDeletion._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.upsertions, pos = wire.read_structs(ScramCredentialUpsertion._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
