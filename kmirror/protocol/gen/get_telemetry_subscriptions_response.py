"""GetTelemetrySubscriptionsResponse: response, key 71, versions 0, flexible from 0.

Generated from schemas/kafka/GetTelemetrySubscriptionsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.kernel.uuid import Uuid
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")
unpack_iio, pack_iio = wire.fused("ii?")


class GetTelemetrySubscriptionsResponse(Message):
    """GetTelemetrySubscriptionsResponse, versions 0."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "client_instance_id",
        "subscription_id",
        "accepted_compression_types",
        "push_interval_ms",
        "telemetry_max_bytes",
        "delta_temporality",
        "requested_metrics",
    )

    NAME = "GetTelemetrySubscriptionsResponse"
    TYPE = "response"
    API_KEY = 71
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        client_instance_id: Uuid = Uuid.ZERO,  # uuid
        subscription_id: int = 0,  # int32
        accepted_compression_types: list[int] = UNSET,  # []int8
        push_interval_ms: int = 0,  # int32
        telemetry_max_bytes: int = 0,  # int32
        delta_temporality: bool = False,  # bool
        requested_metrics: list[str] = UNSET,  # []string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.client_instance_id = client_instance_id
        self.subscription_id = subscription_id
        self.accepted_compression_types = [] if accepted_compression_types is UNSET else accepted_compression_types
        self.push_interval_ms = push_interval_ms
        self.telemetry_max_bytes = telemetry_max_bytes
        self.delta_temporality = delta_temporality
        self.requested_metrics = [] if requested_metrics is UNSET else requested_metrics
        if unknown_tags:
            self.unknown_tags = unknown_tags

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
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[GetTelemetrySubscriptionsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
