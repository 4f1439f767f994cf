"""DescribeClusterResponse: response, key 60, versions 0-2, flexible from 0.

Generated from schemas/kafka/DescribeClusterResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class DescribeClusterBroker(Struct):
    """Part of DescribeClusterResponse."""

    __slots__ = ("broker_id", "host", "port", "rack", "is_fenced")

    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (0, 2), default=0, entity="brokerId", map_key=True),
        Field("Host", "host", "string", (0, 2), default=""),
        Field("Port", "port", "int32", (0, 2), default=0),
        Field("Rack", "rack", "string", (0, 2), nullable=(0, 2)),
        Field("IsFenced", "is_fenced", "bool", (2, 2), default=False),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        host: str = "",  # string
        port: int = 0,  # int32
        rack: str | None = None,  # string
        is_fenced: bool = False,  # bool, v2+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.host = host
        self.port = port
        self.rack = rack
        self.is_fenced = is_fenced
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.broker_id))
        put(wire.compact_string(self.host))
        put(wire.pack_int32(self.port))
        put(wire.compact_nullable_string(self.rack))
        if version >= 2:
            put(wire.pack_bool(self.is_fenced))
        elif self.is_fenced:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeClusterBroker, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.broker_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.host, pos = wire.read_compact_string(buf, pos)
        (self.port,) = wire.unpack_int32(buf, pos)
        pos += 4
        self.rack, pos = wire.read_compact_nullable_string(buf, pos)
        if version >= 2:
            (self.is_fenced,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.is_fenced = False
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class DescribeClusterResponse(Message):
    """DescribeClusterResponse, versions 0-2."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "error_message",
        "endpoint_type",
        "cluster_id",
        "controller_id",
        "brokers",
        "cluster_authorized_operations",
    )

    NAME = "DescribeClusterResponse"
    TYPE = "response"
    API_KEY = 60
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("ErrorMessage", "error_message", "string", (0, 2), nullable=(0, 2)),
        Field("EndpointType", "endpoint_type", "int8", (1, 2), default=1),
        Field("ClusterId", "cluster_id", "string", (0, 2), default=""),
        Field("ControllerId", "controller_id", "int32", (0, 2), default=-1, entity="brokerId"),
        Field(
            "Brokers",
            "brokers",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=DescribeClusterBroker,
        ),
        Field(
            "ClusterAuthorizedOperations",
            "cluster_authorized_operations",
            "int32",
            (0, 2),
            default=-2147483648,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        error_message: str | None = None,  # string
        endpoint_type: int = 1,  # int8, v1+
        cluster_id: str = "",  # string
        controller_id: int = -1,  # int32, brokerId
        brokers: list[DescribeClusterBroker] = UNSET,  # []DescribeClusterBroker
        cluster_authorized_operations: int = -2147483648,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.endpoint_type = endpoint_type
        self.cluster_id = cluster_id
        self.controller_id = controller_id
        self.brokers = [] if brokers is UNSET else brokers
        self.cluster_authorized_operations = cluster_authorized_operations
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_nullable_string(self.error_message))
        if version >= 1:
            put(wire.pack_int8(self.endpoint_type))
        elif self.endpoint_type != 1:
            raise wire.Unwritable
        put(wire.compact_string(self.cluster_id))
        put(wire.pack_int32(self.controller_id))
        put(wire.compact_count(self.brokers))
        for describe_cluster_broker in self.brokers:
            describe_cluster_broker._write(put, version)
        put(wire.pack_int32(self.cluster_authorized_operations))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeClusterResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.error_message, pos = wire.read_compact_nullable_string(buf, pos)
        if version >= 1:
            (self.endpoint_type,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.endpoint_type = 1
        self.cluster_id, pos = wire.read_compact_string(buf, pos)
        (self.controller_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 11)
        self.brokers, pos = wire.read_structs(DescribeClusterBroker._read, buf, pos, n, version)
        (self.cluster_authorized_operations,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
