"""AllocateProducerIdsResponse: response, key 67, versions 0, flexible from 0.

Generated from schemas/kafka/AllocateProducerIdsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_ihqi, pack_ihqi = wire.fused("ihqi")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AllocateProducerIdsResponse(Message):
    """AllocateProducerIdsResponse, versions 0."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    producer_id_start: int = 0  # int64, producerId
    producer_id_len: int = 0  # int32

    NAME: ClassVar[str] = "AllocateProducerIdsResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 0), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 0), default=0),
        Field("ProducerIdStart", "producer_id_start", "int64", (0, 0), default=0, entity="producerId"),
        Field("ProducerIdLen", "producer_id_len", "int32", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihqi(self.throttle_time_ms, self.error_code, self.producer_id_start, self.producer_id_len))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AllocateProducerIdsResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (
            self.throttle_time_ms,
            self.error_code,
            self.producer_id_start,
            self.producer_id_len,
        ) = unpack_ihqi(buf, pos)
        pos += 18
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
