"""AddRaftVoterRequest: request, key 80, versions 0-1, flexible from 0.

Generated from schemas/kafka/AddRaftVoterRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_ii, pack_ii = wire.fused("ii")


class Listener(Struct):
    """Part of AddRaftVoterRequest."""

    __slots__ = ("name", "host", "port")

    FIELDS = (
        Field("Name", "name", "string", (0, 1), default="", map_key=True),
        Field("Host", "host", "string", (0, 1), default=""),
        Field("Port", "port", "uint16", (0, 1), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        host: str = "",  # string
        port: int = 0,  # uint16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Listener, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class AddRaftVoterRequest(Message):
    """AddRaftVoterRequest, versions 0-1."""

    __slots__ = (
        "cluster_id",
        "timeout_ms",
        "voter_id",
        "voter_directory_id",
        "listeners",
        "ack_when_committed",
    )

    NAME = "AddRaftVoterRequest"
    TYPE = "request"
    API_KEY = 80
    MIN_VERSION = 0
    MAX_VERSION = 1
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ClusterId", "cluster_id", "string", (0, 1), nullable=(0, 1), default=""),
        Field("TimeoutMs", "timeout_ms", "int32", (0, 1), default=0),
        Field("VoterId", "voter_id", "int32", (0, 1), default=0),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (0, 1), default=Uuid.ZERO),
        Field("Listeners", "listeners", "struct", (0, 1), is_array=True, default=[], struct=Listener),
        Field("AckWhenCommitted", "ack_when_committed", "bool", (1, 1), default=True),
    )

    def __init__(
        self,
        cluster_id: str | None = "",  # string
        timeout_ms: int = 0,  # int32
        voter_id: int = 0,  # int32
        voter_directory_id: Uuid = Uuid.ZERO,  # uuid
        listeners: list[Listener] = UNSET,  # []Listener
        ack_when_committed: bool = True,  # bool, v1+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.cluster_id = cluster_id
        self.timeout_ms = timeout_ms
        self.voter_id = voter_id
        self.voter_directory_id = voter_directory_id
        self.listeners = [] if listeners is UNSET else listeners
        self.ack_when_committed = ack_when_committed
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddRaftVoterRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
