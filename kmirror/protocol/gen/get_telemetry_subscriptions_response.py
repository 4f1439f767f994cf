"""GetTelemetrySubscriptionsResponse: response, key 71, versions 0, flexible from 0.

Generated from schemas/kafka/GetTelemetrySubscriptionsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message
from kmirror.protocol.uuid import Uuid

unpack_ih, pack_ih = wire.fused("ih")
unpack_iio, pack_iio = wire.fused("ii?")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class GetTelemetrySubscriptionsResponse(Message):
    """GetTelemetrySubscriptionsResponse, versions 0."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    client_instance_id: Uuid = Uuid.ZERO  # uuid
    subscription_id: int = 0  # int32
    accepted_compression_types: list[int] = field(default_factory=list)  # []int8
    push_interval_ms: int = 0  # int32
    telemetry_max_bytes: int = 0  # int32
    delta_temporality: bool = False  # bool
    requested_metrics: list[str] = field(default_factory=list)  # []string

    NAME: ClassVar[str] = "GetTelemetrySubscriptionsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 71
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ClientInstanceId", "client_instance_id", "uuid", (0, 0), default=Uuid.ZERO),
        Field("SubscriptionId", "subscription_id", "int32", (0, 0), default=0),
        Field(
            "AcceptedCompressionTypes",
            "accepted_compression_types",
            "int8",
            (0, 0),
            is_array=True,
            default=[],
        ),
        Field("PushIntervalMs", "push_interval_ms", "int32", (0, 0), default=0),
        Field("TelemetryMaxBytes", "telemetry_max_bytes", "int32", (0, 0), default=0),
        Field("DeltaTemporality", "delta_temporality", "bool", (0, 0), default=False),
        Field("RequestedMetrics", "requested_metrics", "string", (0, 0), is_array=True, default=[]),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.uuid(self.client_instance_id))
        put(wire.pack_int32(self.subscription_id))
        put(wire.compact_count(self.accepted_compression_types))
        put(wire.numbers(self.accepted_compression_types, "b"))
        put(pack_iio(self.push_interval_ms, self.telemetry_max_bytes, self.delta_temporality))
        put(wire.compact_count(self.requested_metrics))
        for text in self.requested_metrics:
            put(wire.compact_string(text))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[GetTelemetrySubscriptionsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        self.client_instance_id, pos = wire.read_uuid(buf, pos)
        (self.subscription_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.accepted_compression_types, pos = wire.read_numbers(buf, pos, n, "b", 1)
        (
            self.push_interval_ms,
            self.telemetry_max_bytes,
            self.delta_temporality,
        ) = unpack_iio(buf, pos)
        pos += 9
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.requested_metrics, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
