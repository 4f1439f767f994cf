"""RegisterControllerRecord: metadata, key 27, versions 0, flexible from 0.

Generated from schemas/metadata/RegisterControllerRecord.json.
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

unpack_Hh, pack_Hh = wire.fused("Hh")
unpack_hh, pack_hh = wire.fused("hh")


class ControllerEndpoint(Struct):
    """Part of RegisterControllerRecord."""

    __slots__ = ("name", "host", "port", "security_protocol")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", map_key=True),
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Port", "port", "uint16", (0, 0), default=0),
        Field("SecurityProtocol", "security_protocol", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        host: str = "",  # string
        port: int = 0,  # uint16
        security_protocol: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.host = host
        self.port = port
        self.security_protocol = security_protocol
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(wire.compact_string(self.host))
        put(pack_Hh(self.port, self.security_protocol))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ControllerEndpoint, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.host, pos = wire.read_compact_string(buf, pos)
        self.port, self.security_protocol = unpack_Hh(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ControllerFeature(Struct):
    """Part of RegisterControllerRecord."""

    __slots__ = ("name", "min_supported_version", "max_supported_version")

    FIELDS = (
        Field("Name", "name", "string", (0, 0), default="", map_key=True),
        Field("MinSupportedVersion", "min_supported_version", "int16", (0, 0), default=0),
        Field("MaxSupportedVersion", "max_supported_version", "int16", (0, 0), default=0),
    )

    def __init__(
        self,
        name: str = "",  # string
        min_supported_version: int = 0,  # int16
        max_supported_version: int = 0,  # int16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.name = name
        self.min_supported_version = min_supported_version
        self.max_supported_version = max_supported_version
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.name))
        put(pack_hh(self.min_supported_version, self.max_supported_version))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ControllerFeature, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.name, pos = wire.read_compact_string(buf, pos)
        self.min_supported_version, self.max_supported_version = unpack_hh(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class RegisterControllerRecord(Message):
    """RegisterControllerRecord, versions 0."""

    __slots__ = ("controller_id", "incarnation_id", "zk_migration_ready", "end_points", "features")

    NAME = "RegisterControllerRecord"
    TYPE = "metadata"
    API_KEY = 27
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        controller_id: int = 0,  # int32
        incarnation_id: Uuid = Uuid.ZERO,  # uuid
        zk_migration_ready: bool = False,  # bool
        end_points: list[ControllerEndpoint] = UNSET,  # []ControllerEndpoint
        features: list[ControllerFeature] = UNSET,  # []ControllerFeature
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.controller_id = controller_id
        self.incarnation_id = incarnation_id
        self.zk_migration_ready = zk_migration_ready
        self.end_points = [] if end_points is UNSET else end_points
        self.features = [] if features is UNSET else features
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RegisterControllerRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
