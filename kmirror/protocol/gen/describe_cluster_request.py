"""DescribeClusterRequest: request, key 60, versions 0-2, flexible from 0.

Generated from schemas/kafka/DescribeClusterRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class DescribeClusterRequest(Message):
    """DescribeClusterRequest, versions 0-2."""

    __slots__ = ("include_cluster_authorized_operations", "endpoint_type", "include_fenced_brokers")

    NAME = "DescribeClusterRequest"
    TYPE = "request"
    API_KEY = 60
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field(
            "IncludeClusterAuthorizedOperations",
            "include_cluster_authorized_operations",
            "bool",
            (0, 2),
            default=False,
        ),
        Field("EndpointType", "endpoint_type", "int8", (1, 2), default=1),
        Field("IncludeFencedBrokers", "include_fenced_brokers", "bool", (2, 2), default=False),
    )

    def __init__(
        self,
        include_cluster_authorized_operations: bool = False,  # bool
        endpoint_type: int = 1,  # int8, v1+
        include_fenced_brokers: bool = False,  # bool, v2+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type
        self.include_fenced_brokers = include_fenced_brokers
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_bool(self.include_cluster_authorized_operations))
        if version >= 1:
            put(wire.pack_int8(self.endpoint_type))
        elif self.endpoint_type != 1:
            raise wire.Unwritable
        if version >= 2:
            put(wire.pack_bool(self.include_fenced_brokers))
        elif self.include_fenced_brokers:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeClusterRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (self.include_cluster_authorized_operations,) = wire.unpack_bool(buf, pos)
        pos += 1
        if version >= 1:
            (self.endpoint_type,) = wire.unpack_int8(buf, pos)
            pos += 1
        else:
            self.endpoint_type = 1
        if version >= 2:
            (self.include_fenced_brokers,) = wire.unpack_bool(buf, pos)
            pos += 1
        else:
            self.include_fenced_brokers = False
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
