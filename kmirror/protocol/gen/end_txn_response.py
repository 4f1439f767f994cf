"""EndTxnResponse: response, key 26, versions 0-5, flexible from 3.

Generated from schemas/kafka/EndTxnResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_ih, pack_ih = wire.fused("ih")
unpack_qh, pack_qh = wire.fused("qh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class EndTxnResponse(Message):
    """EndTxnResponse, versions 0-5."""

    throttle_time_ms: int = 0  # int32
    error_code: int = 0  # int16
    producer_id: int = -1  # int64, v5+, ignorable, producerId
    producer_epoch: int = -1  # int16, v5+, ignorable

    NAME: ClassVar[str] = "EndTxnResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 5), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
        Field("ProducerId", "producer_id", "int64", (5, 5), default=-1, ignorable=True, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (5, 5), default=-1, ignorable=True),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        if version >= 5:
            put(pack_qh(self.producer_id, self.producer_epoch))
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndTxnResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 5:
            self.producer_id, self.producer_epoch = unpack_qh(buf, pos)
            pos += 10
        else:
            self.producer_id = -1
            self.producer_epoch = -1
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
