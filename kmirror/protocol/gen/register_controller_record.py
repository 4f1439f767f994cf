"""RegisterControllerRecord: metadata, key 27, versions 0, flexible from 0.

Generated from schemas/metadata/RegisterControllerRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct
from kmirror.protocol.uuid import Uuid

unpack_Hh, pack_Hh = wire.fused("Hh")
unpack_hh, pack_hh = wire.fused("hh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ControllerEndpoint(Struct):
    """Part of RegisterControllerRecord."""

    name: str = ""  # string
    host: str = ""  # string
    port: int = 0  # uint16
    security_protocol: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", map_key=True),
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Port", "port", "uint16", (0, 0), default=0),
        Field("SecurityProtocol", "security_protocol", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_string(self.host))
        put(pack_Hh(self.port, self.security_protocol))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ControllerEndpoint, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        self.host, pos = wire.read_compact_string(buf, pos)
        self.port, self.security_protocol = unpack_Hh(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ControllerFeature(Struct):
    """Part of RegisterControllerRecord."""

    name: str = ""  # string
    min_supported_version: int = 0  # int16
    max_supported_version: int = 0  # int16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Name", "name", "string", (0, 0), default="", map_key=True),
        Field("MinSupportedVersion", "min_supported_version", "int16", (0, 0), default=0),
        Field("MaxSupportedVersion", "max_supported_version", "int16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(pack_hh(self.min_supported_version, self.max_supported_version))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ControllerFeature, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.name, pos = wire.read_compact_string(buf, pos)
        self.min_supported_version, self.max_supported_version = unpack_hh(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class RegisterControllerRecord(Message):
    """RegisterControllerRecord, versions 0."""

    controller_id: int = 0  # int32
    incarnation_id: Uuid = Uuid.ZERO  # uuid
    zk_migration_ready: bool = False  # bool
    end_points: list[ControllerEndpoint] = field(default_factory=list)  # []ControllerEndpoint
    features: list[ControllerFeature] = field(default_factory=list)  # []ControllerFeature

    NAME: ClassVar[str] = "RegisterControllerRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 27
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ControllerId", "controller_id", "int32", (0, 0), default=0),
        Field("IncarnationId", "incarnation_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("ZkMigrationReady", "zk_migration_ready", "bool", (0, 0), default=False),
        Field(
            "EndPoints",
            "end_points",
            "struct",
            (0, 0),
            is_array=True,
            default=[],
            struct=ControllerEndpoint,
        ),
        Field("Features", "features", "struct", (0, 0), is_array=True, default=[], struct=ControllerFeature),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.controller_id))
        put(wire.uuid(self.incarnation_id))
        put(wire.pack_bool(self.zk_migration_ready))
        put(wire.compact_count(self.end_points))
        for controller_endpoint in self.end_points:
            controller_endpoint._write(put, version)
        put(wire.compact_count(self.features))
        for controller_feature in self.features:
            controller_feature._write(put, version)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RegisterControllerRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.controller_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.incarnation_id, pos = wire.read_uuid(buf, pos)
        (self.zk_migration_ready,) = wire.unpack_bool(buf, pos)
        pos += 1
        n, pos = wire.read_compact_count(buf, pos, 7)
        self.end_points, pos = wire.read_structs(ControllerEndpoint._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.features, pos = wire.read_structs(ControllerFeature._read, buf, pos, n, version)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
