"""InitProducerIdResponse: response, key 22, versions 0-6, flexible from 2.

Generated from schemas/kafka/InitProducerIdResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_ihqh, pack_ihqh = wire.fused("ihqh")
unpack_qh, pack_qh = wire.fused("qh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class InitProducerIdResponse(Message):
    """InitProducerIdResponse, versions 0-6."""

    throttle_time_ms: int = 0  # int32, ignorable
    error_code: int = 0  # int16
    producer_id: int = -1  # int64, producerId
    producer_epoch: int = 0  # int16
    ongoing_txn_producer_id: int = -1  # int64, v6+, producerId
    ongoing_txn_producer_epoch: int = -1  # int16, v6+

    NAME: ClassVar[str] = "InitProducerIdResponse"
    TYPE: ClassVar[str] = "response"
    API_KEY: ClassVar[int | None] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 6), default=0, ignorable=True),
        Field("ErrorCode", "error_code", "int16", (0, 6), default=0),
        Field("ProducerId", "producer_id", "int64", (0, 6), default=-1, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 6), default=0),
        Field(
            "OngoingTxnProducerId",
            "ongoing_txn_producer_id",
            "int64",
            (6, 6),
            default=-1,
            entity="producerId",
        ),
        Field("OngoingTxnProducerEpoch", "ongoing_txn_producer_epoch", "int16", (6, 6), default=-1),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihqh(self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch))
        if version >= 6:
            put(pack_qh(self.ongoing_txn_producer_id, self.ongoing_txn_producer_epoch))
        elif self.ongoing_txn_producer_id != -1:
            raise wire.Unwritable
        if version < 6 and self.ongoing_txn_producer_epoch != -1:
            raise wire.Unwritable
        if version >= 2:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[InitProducerIdResponse, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (
            self.throttle_time_ms,
            self.error_code,
            self.producer_id,
            self.producer_epoch,
        ) = unpack_ihqh(buf, pos)
        pos += 16
        if version >= 6:
            self.ongoing_txn_producer_id, self.ongoing_txn_producer_epoch = unpack_qh(buf, pos)
            pos += 10
        else:
            self.ongoing_txn_producer_id = -1
            self.ongoing_txn_producer_epoch = -1
        if version >= 2:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
