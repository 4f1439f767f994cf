"""DescribeClusterRequest: request, key 60, versions 0-2, flexible from 0.

Generated from schemas/kafka/DescribeClusterRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeClusterRequest(Message):
    """DescribeClusterRequest, versions 0-2."""

    include_cluster_authorized_operations: bool = False  # bool
    endpoint_type: int = 1  # int8, v1+
    include_fenced_brokers: bool = False  # bool, v2+

    NAME: ClassVar[str] = "DescribeClusterRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 60
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeClusterRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
