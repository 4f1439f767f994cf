"""BrokerRegistrationRequest: request, key 62, versions 0-4, flexible from 0.

Generated from schemas/kafka/BrokerRegistrationRequest.json.
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


class Listener(Struct):
    """Part of BrokerRegistrationRequest."""

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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Listener, int]:
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


class Feature(Struct):
    """Part of BrokerRegistrationRequest."""

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
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Feature, int]:
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


class BrokerRegistrationRequest(Message):
    """BrokerRegistrationRequest, versions 0-4."""

    __slots__ = (
        "broker_id",
        "cluster_id",
        "incarnation_id",
        "listeners",
        "features",
        "rack",
        "is_migrating_zk_broker",
        "log_dirs",
        "previous_broker_epoch",
    )

    NAME = "BrokerRegistrationRequest"
    TYPE = "request"
    API_KEY = 62
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (0, 4), default=0, entity="brokerId"),
        Field("ClusterId", "cluster_id", "string", (0, 4), default=""),
        Field("IncarnationId", "incarnation_id", "uuid", (0, 4), default=Uuid.ZERO),
        Field("Listeners", "listeners", "struct", (0, 4), is_array=True, default=[], struct=Listener),
        Field("Features", "features", "struct", (0, 4), is_array=True, default=[], struct=Feature),
        Field("Rack", "rack", "string", (0, 4), nullable=(0, 4), default=""),
        Field("IsMigratingZkBroker", "is_migrating_zk_broker", "bool", (1, 4), default=False),
        Field("LogDirs", "log_dirs", "uuid", (2, 4), is_array=True, default=[], ignorable=True),
        Field("PreviousBrokerEpoch", "previous_broker_epoch", "int64", (3, 4), default=-1, ignorable=True),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        cluster_id: str = "",  # string
        incarnation_id: Uuid = Uuid.ZERO,  # uuid
        listeners: list[Listener] = UNSET,  # []Listener
        features: list[Feature] = UNSET,  # []Feature
        rack: str | None = "",  # string
        is_migrating_zk_broker: bool = False,  # bool, v1+
        log_dirs: list[Uuid] = UNSET,  # []uuid, v2+, ignorable
        previous_broker_epoch: int = -1,  # int64, v3+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.cluster_id = cluster_id
        self.incarnation_id = incarnation_id
        self.listeners = [] if listeners is UNSET else listeners
        self.features = [] if features is UNSET else features
        self.rack = rack
        self.is_migrating_zk_broker = is_migrating_zk_broker
        self.log_dirs = [] if log_dirs is UNSET else log_dirs
        self.previous_broker_epoch = previous_broker_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.broker_id))
        put(wire.compact_string(self.cluster_id))
        put(wire.uuid(self.incarnation_id))
        put(wire.compact_count(self.listeners))
        for listener in self.listeners:
            listener._write(put, version)
        put(wire.compact_count(self.features))
        for feature in self.features:
            feature._write(put, version)
        put(wire.compact_nullable_string(self.rack))
        if version >= 1:
            put(wire.pack_bool(self.is_migrating_zk_broker))
        elif self.is_migrating_zk_broker:
            raise wire.Unwritable
        if version >= 2:
            put(wire.compact_count(self.log_dirs))
            for uuid in self.log_dirs:
                put(wire.uuid(uuid))
        if version >= 3:
            put(wire.pack_int64(self.previous_broker_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerRegistrationRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.broker_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.cluster_id, pos = wire.read_compact_string(buf, pos)
        self.incarnation_id, pos = wire.read_uuid(buf, pos)
        n, pos = wire.read_compact_count(buf, pos, 7)
        self.listeners, pos = wire.read_structs(Listener._read, buf, pos, n, version)
        n, pos = wire.read_compact_count(buf, pos, 6)
        self.features, pos = wire.read_structs(Feature._read, buf, pos, n, version)
        self.rack, pos = wire.read_compact_nullable_string(buf, pos)
        if version >= 1:
            (self.is_migrating_zk_broker,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.is_migrating_zk_broker = False
        if version >= 2:
            n, pos = wire.read_compact_count(buf, pos, 16)
            self.log_dirs, pos = wire.read_many(wire.read_uuid, buf, pos, n)
        else:
            self.log_dirs = []
        if version >= 3:
            (self.previous_broker_epoch,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.previous_broker_epoch = -1
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
