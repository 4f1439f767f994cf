"""PushTelemetryRequest: request, key 72, versions 0, flexible from 0.

Generated from schemas/kafka/PushTelemetryRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_iob, pack_iob = wire.fused("i?b")


class PushTelemetryRequest(Message):
    """PushTelemetryRequest, versions 0."""

    __slots__ = ("client_instance_id", "subscription_id", "terminating", "compression_type", "metrics")

    NAME = "PushTelemetryRequest"
    TYPE = "request"
    API_KEY = 72
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ClientInstanceId", "client_instance_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("SubscriptionId", "subscription_id", "int32", (0, 0), default=0),
        Field("Terminating", "terminating", "bool", (0, 0), default=False),
        Field("CompressionType", "compression_type", "int8", (0, 0), default=0),
        Field("Metrics", "metrics", "bytes", (0, 0), default=b""),
    )

    def __init__(
        self,
        client_instance_id: Uuid = Uuid.ZERO,  # uuid
        subscription_id: int = 0,  # int32
        terminating: bool = False,  # bool
        compression_type: int = 0,  # int8
        metrics: bytes = b"",  # bytes
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.terminating = terminating
        self.compression_type = compression_type
        self.metrics = metrics
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.uuid(self.client_instance_id))
        put(pack_iob(self.subscription_id, self.terminating, self.compression_type))
        wire.put_compact_bytes(put, self.metrics)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[PushTelemetryRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.client_instance_id, pos = wire.read_uuid(buf, pos)
        self.subscription_id, self.terminating, self.compression_type = unpack_iob(buf, pos)
        pos += 6
        self.metrics, pos = wire.read_compact_bytes(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
