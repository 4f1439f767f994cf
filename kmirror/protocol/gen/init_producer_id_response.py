"""InitProducerIdResponse: response, key 22, versions 0-6, flexible from 2.

Generated from schemas/kafka/InitProducerIdResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_ihqh, pack_ihqh = wire.fused("ihqh")
unpack_qh, pack_qh = wire.fused("qh")


class InitProducerIdResponse(Message):
    """InitProducerIdResponse, versions 0-6."""

    __slots__ = (
        "throttle_time_ms",
        "error_code",
        "producer_id",
        "producer_epoch",
        "ongoing_txn_producer_id",
        "ongoing_txn_producer_epoch",
    )

    NAME = "InitProducerIdResponse"
    TYPE = "response"
    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_FROM = 2
    FIELDS = (
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

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32, ignorable
        error_code: int = 0,  # int16
        producer_id: int = -1,  # int64, producerId
        producer_epoch: int = 0,  # int16
        ongoing_txn_producer_id: int = -1,  # int64, v6+, producerId
        ongoing_txn_producer_epoch: int = -1,  # int16, v6+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.ongoing_txn_producer_id = ongoing_txn_producer_id
        self.ongoing_txn_producer_epoch = ongoing_txn_producer_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihqh(self.throttle_time_ms, self.error_code, self.producer_id, self.producer_epoch))
        if version >= 6:
            put(pack_qh(self.ongoing_txn_producer_id, self.ongoing_txn_producer_epoch))
        elif self.ongoing_txn_producer_id != -1:
            raise wire.Unwritable
        if version < 6 and self.ongoing_txn_producer_epoch != -1:
            raise wire.Unwritable
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[InitProducerIdResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
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
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
