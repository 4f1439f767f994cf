"""RegisterBrokerRecord: metadata, key 0, versions 0-4, flexible from 0.

Generated from schemas/metadata/RegisterBrokerRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, Tagged, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_Hh, pack_Hh = wire.fused("Hh")
unpack_hh, pack_hh = wire.fused("hh")


class BrokerEndpoint(Struct):
    """Part of RegisterBrokerRecord."""

    __slots__ = ("name", "host", "port", "security_protocol")

    FIELDS = (
        Field("Name", "name", "string", (0, 4), default="", map_key=True),
        Field("Host", "host", "string", (0, 4), default=""),
        Field("Port", "port", "uint16", (0, 4), default=0),
        Field("SecurityProtocol", "security_protocol", "int16", (0, 4), default=0),
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerEndpoint, int]:
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


class BrokerFeature(Struct):
    """Part of RegisterBrokerRecord."""

    __slots__ = ("name", "min_supported_version", "max_supported_version")

    FIELDS = (
        Field("Name", "name", "string", (0, 4), default="", map_key=True),
        Field("MinSupportedVersion", "min_supported_version", "int16", (0, 4), default=0),
        Field("MaxSupportedVersion", "max_supported_version", "int16", (0, 4), default=0),
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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerFeature, int]:
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


class RegisterBrokerRecord(Message):
    """RegisterBrokerRecord, versions 0-4."""

    __slots__ = (
        "broker_id",
        "is_migrating_zk_broker",
        "incarnation_id",
        "broker_epoch",
        "end_points",
        "features",
        "rack",
        "fenced",
        "in_controlled_shutdown",
    )

    log_dirs = Tagged[list[Uuid]]("log_dirs", list)
    cordoned_log_dirs = Tagged[list[Uuid] | None]("cordoned_log_dirs", None)

    NAME = "RegisterBrokerRecord"
    TYPE = "metadata"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (0, 4), default=0, entity="brokerId"),
        Field("IsMigratingZkBroker", "is_migrating_zk_broker", "bool", (2, 4), default=False),
        Field("IncarnationId", "incarnation_id", "uuid", (0, 4), default=Uuid.ZERO),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 4), default=0),
        Field("EndPoints", "end_points", "struct", (0, 4), is_array=True, default=[], struct=BrokerEndpoint),
        Field("Features", "features", "struct", (0, 4), is_array=True, default=[], struct=BrokerFeature),
        Field("Rack", "rack", "string", (0, 4), nullable=(0, 4), default=""),
        Field("Fenced", "fenced", "bool", (0, 4), default=True),
        Field("InControlledShutdown", "in_controlled_shutdown", "bool", (1, 4), default=False),
        Field("LogDirs", "log_dirs", "uuid", (3, 4), is_array=True, tagged=(3, 4), tag=0, default=[]),
        Field(
            "CordonedLogDirs",
            "cordoned_log_dirs",
            "uuid",
            (4, 4),
            is_array=True,
            nullable=(4, 4),
            tagged=(4, 4),
            tag=1,
        ),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        is_migrating_zk_broker: bool = False,  # bool, v2+
        incarnation_id: Uuid = Uuid.ZERO,  # uuid
        broker_epoch: int = 0,  # int64
        end_points: list[BrokerEndpoint] = UNSET,  # []BrokerEndpoint
        features: list[BrokerFeature] = UNSET,  # []BrokerFeature
        rack: str | None = "",  # string
        fenced: bool = True,  # bool
        in_controlled_shutdown: bool = False,  # bool, v1+
        log_dirs: list[Uuid] = UNSET,  # []uuid, v3+, tag 0
        cordoned_log_dirs: list[Uuid] | None = None,  # []uuid, v4+, tag 1
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.incarnation_id = incarnation_id
        self.broker_epoch = broker_epoch
        self.end_points = [] if end_points is UNSET else end_points
        self.features = [] if features is UNSET else features
        self.rack = rack
        self.fenced = fenced
        self.in_controlled_shutdown = in_controlled_shutdown
        if log_dirs is not UNSET:
            self.log_dirs = log_dirs
        if cordoned_log_dirs is not None:
            self.cordoned_log_dirs = cordoned_log_dirs
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.broker_id))
        if version >= 2:
            put(wire.pack_bool(self.is_migrating_zk_broker))
        elif self.is_migrating_zk_broker:
            raise wire.Unwritable
        put(wire.uuid(self.incarnation_id))
        put(wire.pack_int64(self.broker_epoch))
        put(wire.compact_count(self.end_points))
        for broker_endpoint in self.end_points:
            broker_endpoint._write(put, version)
        put(wire.compact_count(self.features))
        for broker_feature in self.features:
            broker_feature._write(put, version)
        put(wire.compact_nullable_string(self.rack))
        put(wire.pack_bool(self.fenced))
        if version >= 1:
            put(wire.pack_bool(self.in_controlled_shutdown))
        elif self.in_controlled_shutdown:
            raise wire.Unwritable
        if version < 3 and self._tagged and self.log_dirs:
            raise wire.Unwritable
        if version < 4 and self._tagged and self.cordoned_log_dirs is not None:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    def _write_tags(self, put: wire.Put, version: int) -> None:
        tags: list[bytes] = []
        tagged = self._tagged
        if version >= 3 and "log_dirs" in tagged and tagged["log_dirs"]:
            body_0: list[wire.Chunk] = []
            body_0.append(wire.compact_count(tagged["log_dirs"]))
            for uuid in tagged["log_dirs"]:
                body_0.append(wire.uuid(uuid))
            tags.append(wire.tag(0, b"".join(body_0)))
        if version >= 4 and "cordoned_log_dirs" in tagged and tagged["cordoned_log_dirs"] is not None:
            body_1: list[wire.Chunk] = []
            body_1.append(wire.compact_nullable_count(tagged["cordoned_log_dirs"]))
            for uuid in tagged["cordoned_log_dirs"] or ():
                body_1.append(wire.uuid(uuid))
            tags.append(wire.tag(1, b"".join(body_1)))
        wire.put_tags(put, tags, tagged.get("unknown_tags", ()), 2)

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[RegisterBrokerRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.broker_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 2:
            (self.is_migrating_zk_broker,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.is_migrating_zk_broker = False
        self.incarnation_id, pos = wire.read_uuid(buf, pos)
        (self.broker_epoch,) = wire.unpack_int64(buf, pos)
        pos += 8
        n, pos = wire.read_compact_count(buf, pos, 7)
        self.end_points, pos = wire.read_structs(BrokerEndpoint._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.features, pos = wire.read_structs(BrokerFeature._read, buf, pos, n, version)
        self.rack, pos = wire.read_compact_nullable_string(buf, pos)
        (self.fenced,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 1:
            (self.in_controlled_shutdown,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.in_controlled_shutdown = False
        pos = self._read_tags(buf, pos, version)
        return self, pos

    def _read_tags(self, buf: Any, pos: int, version: int) -> int:
        tagged: dict[str, Any] = {}
        tags, pos = wire.read_uvarint(buf, pos)
        for _ in range(tags):
            tag, size, pos = wire.read_tag_head(buf, pos)
            if tag == 0:
                if version < 3:
                    raise wire.Malformed
                n, pos = wire.read_compact_count(buf, pos, 16)
                tagged["log_dirs"], pos = wire.read_many(wire.read_uuid, buf, pos, n)
            elif tag == 1:
                if version < 4:
                    raise wire.Malformed
                n, pos = wire.read_compact_nullable_count(buf, pos, 16)
                if n < 0:
                    tagged["cordoned_log_dirs"] = None
                else:
                    tagged["cordoned_log_dirs"], pos = wire.read_many(wire.read_uuid, buf, pos, n)
            else:
                unknown, pos = wire.read_unknown_tag(buf, pos, tag, size)
                tagged["unknown_tags"] = (*tagged.get("unknown_tags", ()), unknown)
        if tagged:
            self._tagged = tagged
        return pos
