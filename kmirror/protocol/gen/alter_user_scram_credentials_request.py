"""AlterUserScramCredentialsRequest: request, key 51, versions 0, flexible from 0.

Generated from schemas/kafka/AlterUserScramCredentialsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_bi, pack_bi = wire.fused("bi")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ScramCredentialDeletion(Struct):
    """Part of AlterUserScramCredentialsRequest."""

    name: str = ""  # string
    mechanism: int = 0  # int8

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Mechanism", "mechanism", "int8", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.pack_int8(self.mechanism))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ScramCredentialDeletion, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        (self.mechanism,) = wire.unpack_int8(buf, pos)
        pos += 1
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ScramCredentialUpsertion(Struct):
    """Part of AlterUserScramCredentialsRequest."""

    name: str = ""  # string
    mechanism: int = 0  # int8
    iterations: int = 0  # int32
    salt: bytes = b""  # bytes
    salted_password: bytes = b""  # bytes

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Mechanism", "mechanism", "int8", (0, 0), default=0),
        Field("Iterations", "iterations", "int32", (0, 0), default=0),
        Field("Salt", "salt", "bytes", (0, 0), default=b""),
        Field("SaltedPassword", "salted_password", "bytes", (0, 0), default=b""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(pack_bi(self.mechanism, self.iterations))
        wire.put_compact_bytes(put, self.salt)
        wire.put_compact_bytes(put, self.salted_password)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ScramCredentialUpsertion, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        self.mechanism, self.iterations = unpack_bi(buf, pos)
        pos += 5
        self.salt, pos = wire.read_compact_bytes(buf, pos)
        self.salted_password, pos = wire.read_compact_bytes(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AlterUserScramCredentialsRequest(Message):
    """AlterUserScramCredentialsRequest, versions 0."""

    deletions: list[ScramCredentialDeletion] = field(default_factory=list)  # []ScramCredentialDeletion
    upsertions: list[ScramCredentialUpsertion] = field(default_factory=list)  # []ScramCredentialUpsertion

    NAME: ClassVar[str] = "AlterUserScramCredentialsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 51
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.deletions))
        for scram_credential_deletion in self.deletions:
            scram_credential_deletion._write(put, version)
        put(wire.compact_count(self.upsertions))
        for scram_credential_upsertion in self.upsertions:
            scram_credential_upsertion._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AlterUserScramCredentialsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.deletions, pos = wire.read_structs(ScramCredentialDeletion._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 9)
        self.upsertions, pos = wire.read_structs(ScramCredentialUpsertion._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
