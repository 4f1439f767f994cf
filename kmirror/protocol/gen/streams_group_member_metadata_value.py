"""StreamsGroupMemberMetadataValue: coordinator-value, key 19, versions 0, flexible from 0.

Generated from schemas/coordinator/StreamsGroupMemberMetadataValue.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message, Struct

unpack_ii, pack_ii = wire.fused("ii")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class Endpoint(Struct):
    """Part of StreamsGroupMemberMetadataValue."""

    host: str = ""  # string
    port: int = 0  # uint16

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Host", "host", "string", (0, 0), default=""),
        Field("Port", "port", "uint16", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
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
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_uint16(buf, pos)
        pos += 2
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class KeyValue(Struct):
    """Part of StreamsGroupMemberMetadataValue."""

    key: str = ""  # string
    value: str = ""  # string

    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("Key", "key", "string", (0, 0), default=""),
        Field("Value", "value", "string", (0, 0), default=""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.key))
        put(wire.compact_string(self.value))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[KeyValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.key, pos = wire.read_compact_string(buf, pos)
        self.value, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class StreamsGroupMemberMetadataValue(Message):
    """StreamsGroupMemberMetadataValue, versions 0."""

    instance_id: str | None = ""  # string
    rack_id: str | None = ""  # string
    client_id: str = ""  # string
    client_host: str = ""  # string
    rebalance_timeout_ms: int = -1  # int32
    topology_epoch: int = 0  # int32
    process_id: str = ""  # string
    user_endpoint: Endpoint | None = None  # Endpoint
    client_tags: list[KeyValue] = field(default_factory=list)  # []KeyValue

    NAME: ClassVar[str] = "StreamsGroupMemberMetadataValue"
    TYPE: ClassVar[str] = "coordinator-value"
    API_KEY: ClassVar[int | None] = 19
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[StreamsGroupMemberMetadataValue, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
