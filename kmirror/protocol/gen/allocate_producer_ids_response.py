"""AllocateProducerIdsResponse: response, key 67, versions 0, flexible from 0.

Generated from schemas/kafka/AllocateProducerIdsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_ihqi, pack_ihqi = wire.fused("ihqi")


class AllocateProducerIdsResponse(Message):
    """AllocateProducerIdsResponse, versions 0."""

    __slots__ = ("throttle_time_ms", "error_code", "producer_id_start", "producer_id_len")

    NAME = "AllocateProducerIdsResponse"
    TYPE = "response"
    API_KEY = 67
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ProducerIdStart", "producer_id_start", "int64", (0, 0), default=0, entity="producerId"),
        Field("ProducerIdLen", "producer_id_len", "int32", (0, 0), default=0),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        producer_id_start: int = 0,  # int64, producerId
        producer_id_len: int = 0,  # int32
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id_start = producer_id_start
        self.producer_id_len = producer_id_len
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihqi(self.throttle_time_ms, self.error_code, self.producer_id_start, self.producer_id_len))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AllocateProducerIdsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        (
            self.throttle_time_ms,
            self.error_code,
            self.producer_id_start,
            self.producer_id_len,
        ) = unpack_ihqi(buf, pos)
        pos += 18
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
