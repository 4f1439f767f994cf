"""StreamsGroupMemberMetadataValue: coordinator-value, key 19, versions 0, flexible from 0.

Generated from schemas/coordinator/StreamsGroupMemberMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ii, pack_ii = wire.fused("ii")


class Endpoint(Struct):
    """Part of StreamsGroupMemberMetadataValue."""

    __slots__ = ("host", "port")

    FIELDS = (
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Port", "port", "uint16", (0, 0), default=0),
    )

    def __init__(
        self,
        host: str = "",  # string
        port: int = 0,  # uint16
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.host = host
        self.port = port
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.host))
        put(wire.pack_uint16(self.port))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[Endpoint, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class KeyValue(Struct):
    """Part of StreamsGroupMemberMetadataValue."""

    __slots__ = ("key", "value")

    FIELDS = (
        Field("Key", "key", "string", (0, 0), default=""),
        Field("Value", "value", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        key: str = "",  # string
        value: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.key = key
        self.value = value
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.key))
        put(wire.compact_string(self.value))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[KeyValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.key, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class StreamsGroupMemberMetadataValue(Message):
    """StreamsGroupMemberMetadataValue, versions 0."""

    __slots__ = (
        "instance_id",
        "rack_id",
        "client_id",
        "client_host",
        "rebalance_timeout_ms",
        "topology_epoch",
        "process_id",
        "user_endpoint",
        "client_tags",
    )

    NAME = "StreamsGroupMemberMetadataValue"
    TYPE = "coordinator-value"
    API_KEY = 19
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("InstanceId", "instance_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("RackId", "rack_id", "string", (0, 0), nullable=(0, 0), default=""),
        Field("ClientId", "client_id", "string", (0, 0), default=""),
        Field("ClientHost", "client_host", "string", (0, 0), default=""),
        Field("RebalanceTimeoutMs", "rebalance_timeout_ms", "int32", (0, 0), default=-1),
        Field("TopologyEpoch", "topology_epoch", "int32", (0, 0), default=0),
        Field("ProcessId", "process_id", "string", (0, 0), default=""),
        Field("UserEndpoint", "user_endpoint", "struct", (0, 0), nullable=(0, 0), struct=Endpoint),
        Field("ClientTags", "client_tags", "struct", (0, 0), is_array=True, default=[], struct=KeyValue),
    )

    def __init__(
        self,
        instance_id: str | None = "",  # string
        rack_id: str | None = "",  # string
        client_id: str = "",  # string
        client_host: str = "",  # string
        rebalance_timeout_ms: int = -1,  # int32
        topology_epoch: int = 0,  # int32
        process_id: str = "",  # string
        user_endpoint: Endpoint | None = None,  # Endpoint
        client_tags: list[KeyValue] = UNSET,  # []KeyValue
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.instance_id = instance_id
        self.rack_id = rack_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.topology_epoch = topology_epoch
        self.process_id = process_id
        self.user_endpoint = user_endpoint
        self.client_tags = [] if client_tags is UNSET else client_tags
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_nullable_string(self.instance_id))
        put(wire.compact_nullable_string(self.rack_id))
        put(wire.compact_string(self.client_id))
        put(wire.compact_string(self.client_host))
        put(pack_ii(self.rebalance_timeout_ms, self.topology_epoch))
        put(wire.compact_string(self.process_id))
        if self.user_endpoint is None:
            put(b"\xff")
        else:
            put(b"\x01")
            self.user_endpoint._write(put, version)
        put(wire.compact_count(self.client_tags))
        for key_value in self.client_tags:
            key_value._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupMemberMetadataValue, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.instance_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.rack_id, pos = wire.read_compact_nullable_string(buf, pos)
        self.client_id, pos = wire.read_compact_string(buf, pos)
        self.client_host, pos = wire.read_compact_string(buf, pos)
        self.rebalance_timeout_ms, self.topology_epoch = unpack_ii(buf, pos)
        pos += 8
        self.process_id, pos = wire.read_compact_string(buf, pos)
        (present,) = wire.unpack_int8(buf, pos)
        pos += 1
        if present < 0:
            self.user_endpoint = None
        else:
            self.user_endpoint, pos = Endpoint._read(buf, pos, version)
        n, pos = wire.read_compact_count(buf, pos, 3)
        self.client_tags, pos = wire.read_structs(KeyValue._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
