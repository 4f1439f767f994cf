"""VotersRecord: data, versions 0, flexible from 0.

Generated from schemas/kafka/VotersRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_hh, pack_hh = wire.fused("hh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Endpoint(Struct):
    """Part of VotersRecord."""

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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Endpoint, int]:
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
    """Part of VotersRecord."""

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
class Voter(Struct):
    """Part of VotersRecord."""

    voter_id: int = 0  # int32, brokerId
    voter_directory_id: Uuid = Uuid.ZERO  # uuid
    endpoints: list[Endpoint] = field(default_factory=list)  # []Endpoint
    kraft_version_feature: KRaftVersionFeature = field(default_factory=KRaftVersionFeature)  # KRaftVersionFeature

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("VoterId", "voter_id", "int32", (0, 0), default=0, entity="brokerId"),
        Field("VoterDirectoryId", "voter_directory_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("Endpoints", "endpoints", "struct", (0, 0), is_array=True, default=[], struct=Endpoint),
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
        put(wire.pack_int32(self.voter_id))
        put(wire.uuid(self.voter_directory_id))
        put(wire.compact_count(self.endpoints))
        for endpoint in self.endpoints:
            endpoint._write(put, version)
        self.kraft_version_feature._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Voter, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.voter_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.voter_directory_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 5)
        self.endpoints, pos = wire.read_structs(Endpoint._read, buf, pos, n, version)
        self.kraft_version_feature, pos = KRaftVersionFeature._read(buf, pos, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class VotersRecord(Message):
    """VotersRecord, versions 0."""

    version: int = 0  # int16
    voters: list[Voter] = field(default_factory=list)  # []Voter

    NAME: ClassVar[str] = "VotersRecord"
    TYPE: ClassVar[str] = "data"
    API_KEY: ClassVar[int | None] = None
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Version", "version", "int16", (0, 0), default=0),
        Field("Voters", "voters", "struct", (0, 0), is_array=True, default=[], struct=Voter),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int16(self.version))
        put(wire.compact_count(self.voters))
        for voter in self.voters:
            voter._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[VotersRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.version,) = wire.unpack_int16(buf, pos)
        pos += 2
        n, pos = wire.read_compact_count(buf, pos, 27)
        self.voters, pos = wire.read_structs(Voter._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
