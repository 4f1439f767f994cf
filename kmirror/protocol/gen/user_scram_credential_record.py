"""UserScramCredentialRecord: metadata, key 11, versions 0, flexible from 0.

Generated from schemas/metadata/UserScramCredentialRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class UserScramCredentialRecord(Message):
    """UserScramCredentialRecord, versions 0."""

    __slots__ = ("name", "mechanism", "salt", "stored_key", "server_key", "iterations")

    NAME = "UserScramCredentialRecord"
    TYPE = "metadata"
    API_KEY = 11
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("Name", "name", "string", (0, 0), default=""),
        Field("Mechanism", "mechanism", "int8", (0, 0), default=0),
        Field("Salt", "salt", "bytes", (0, 0), default=b""),
        Field("StoredKey", "stored_key", "bytes", (0, 0), default=b""),
        Field("ServerKey", "server_key", "bytes", (0, 0), default=b""),
        Field("Iterations", "iterations", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        mechanism: int = 0,  # int8
        salt: bytes = b"",  # bytes
        stored_key: bytes = b"",  # bytes
        server_key: bytes = b"",  # bytes
        iterations: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.mechanism = mechanism
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key
        self.iterations = iterations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.pack_int8(self.mechanism))
        wire.put_compact_bytes(put, self.salt)
        wire.put_compact_bytes(put, self.stored_key)
        wire.put_compact_bytes(put, self.server_key)
        put(wire.pack_int32(self.iterations))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UserScramCredentialRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        (self.mechanism,) = wire.unpack_int8(buf, pos)
        pos += 1
        self.salt, pos = wire.read_compact_bytes(buf, pos)
        self.stored_key, pos = wire.read_compact_bytes(buf, pos)
        self.server_key, pos = wire.read_compact_bytes(buf, pos)
        (self.iterations,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
