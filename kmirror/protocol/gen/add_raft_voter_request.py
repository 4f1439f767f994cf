"""AddRaftVoterRequest: request, key 80, versions 0-1, flexible from 0.

Generated from schemas/kafka/AddRaftVoterRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_ii, pack_ii = wire.fused("ii")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Listener(Struct):
    """Part of AddRaftVoterRequest."""

    name: str = ""  # string
    host: str = ""  # string
    port: int = 0  # uint16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 1), default="", map_key=True),
        Field("Host", "host", "string", (0, 1), default=""),
        Field("Port", "port", "uint16", (0, 1), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Listener, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AddRaftVoterRequest(Message):
    """AddRaftVoterRequest, versions 0-1."""

    cluster_id: str | None = ""  # string
    timeout_ms: int = 0  # int32
    voter_id: int = 0  # int32
    voter_directory_id: Uuid = Uuid.ZERO  # uuid
    listeners: list[Listener] = field(default_factory=list)  # []Listener
    ack_when_committed: bool = True  # bool, v1+

    NAME: ClassVar[str] = "AddRaftVoterRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 80
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 1
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ClusterId", "cluster_id", "string", (0, 1), nullable=(0, 1), default=""),
        Field("TimeoutMs", "timeout_ms", "int32", (0, 1), default=0),
        Field("VoterId", "voter_id", "int32", (0, 1), default=0),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field("Listeners", "listeners", "struct", (0, 1), is_array=True, default=[], struct=Listener),
        Field("AckWhenCommitted", "ack_when_committed", "bool", (1, 1), default=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.cluster_id))
        put(pack_ii(self.timeout_ms, self.voter_id))
        put(wire.uuid(self.voter_directory_id))
        put(wire.compact_count(self.listeners))
        for listener in self.listeners:
            listener._write(put, version)
        if version >= 1:
            put(wire.pack_bool(self.ack_when_committed))
        elif not self.ack_when_committed:
            raise wire.Unwritable
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddRaftVoterRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.cluster_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.timeout_ms, self.voter_id = unpack_ii(buf, pos)
        pos += 8
        self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.listeners, pos = wire.read_structs(Listener._read, buf, pos, n, version)
        if version >= 1:
            (self.ack_when_committed,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.ack_when_committed = True
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
