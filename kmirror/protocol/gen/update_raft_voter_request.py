"""UpdateRaftVoterRequest: request, key 82, versions 0, flexible from 0.

Generated from schemas/kafka/UpdateRaftVoterRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_hh, pack_hh = wire.fused("hh")
unpack_ii, pack_ii = wire.fused("ii")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Listener(Struct):
    """Part of UpdateRaftVoterRequest."""

    name: str = ""  # string
    host: str = ""  # string
    port: int = 0  # uint16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", map_key=True),
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Port", "port", "uint16", (0, 0), default=0),
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
class KRaftVersionFeature(Struct):
    """Part of UpdateRaftVoterRequest."""

    min_supported_version: int = 0  # int16
    max_supported_version: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("MinSupportedVersion", "min_supported_version", "int16", (0, 0), default=0),
        Field("MaxSupportedVersion", "max_supported_version", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_hh(self.min_supported_version, self.max_supported_version))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[KRaftVersionFeature, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.min_supported_version, self.max_supported_version = unpack_hh(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class UpdateRaftVoterRequest(Message):
    """UpdateRaftVoterRequest, versions 0."""

    cluster_id: str | None = ""  # string
    current_leader_epoch: int = 0  # int32
    voter_id: int = 0  # int32
    voter_directory_id: Uuid = Uuid.ZERO  # uuid
    listeners: list[Listener] = field(default_factory=list)  # []Listener
    kraft_version_feature: KRaftVersionFeature = field(default_factory=KRaftVersionFeature)  # KRaftVersionFeature

    NAME: ClassVar[str] = "UpdateRaftVoterRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 82
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ClusterId", "cluster_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("CurrentLeaderEpoch", "current_leader_epoch", "int32", (0, 0), default=0),
        Field("VoterId", "voter_id", "int32", (0, 0), default=0),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Listeners", "listeners", "struct", (0, 0), is_array=True, default=[], struct=Listener),
        Field(
            "KRaftVersionFeature",
            "kraft_version_feature",
            "struct",
            (0, 0),
            default={},
            struct=KRaftVersionFeature,
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.cluster_id))
        put(pack_ii(self.current_leader_epoch, self.voter_id))
        put(wire.uuid(self.voter_directory_id))
        put(wire.compact_count(self.listeners))
        for listener in self.listeners:
            listener._write(put, version)
        self.kraft_version_feature._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UpdateRaftVoterRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.cluster_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.current_leader_epoch, self.voter_id = unpack_ii(buf, pos)
        pos += 8
        self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.listeners, pos = wire.read_structs(Listener._read, buf, pos, n, version)
        self.kraft_version_feature, pos = KRaftVersionFeature._read(buf, pos, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
