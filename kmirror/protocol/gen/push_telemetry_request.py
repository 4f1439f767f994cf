"""PushTelemetryRequest: request, key 72, versions 0, flexible from 0.

Generated from schemas/kafka/PushTelemetryRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message
from kmirror.protocol.uuid import Uuid

unpack_iob, pack_iob = wire.fused("i?b")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class PushTelemetryRequest(Message):
    """PushTelemetryRequest, versions 0."""

    client_instance_id: Uuid = Uuid.ZERO  # uuid
    subscription_id: int = 0  # int32
    terminating: bool = False  # bool
    compression_type: int = 0  # int8
    metrics: bytes = b""  # bytes

    NAME: ClassVar[str] = "PushTelemetryRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 72
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ClientInstanceId", "client_instance_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("SubscriptionId", "subscription_id", "int32", (0, 0), default=0),
        Field("Terminating", "terminating", "bool", (0, 0), default=False),
        Field("CompressionType", "compression_type", "int8", (0, 0), default=0),
        Field("Metrics", "metrics", "bytes", (0, 0), default=b""),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.client_instance_id))
        put(pack_iob(self.subscription_id, self.terminating, self.compression_type))
        wire.put_compact_bytes(put, self.metrics)
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PushTelemetryRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.client_instance_id, pos = wire.read_uuid(buf, pos)
        self.subscription_id, self.terminating, self.compression_type = unpack_iob(buf, pos)
        pos += 6
        self.metrics, pos = wire.read_compact_bytes(buf, pos)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
