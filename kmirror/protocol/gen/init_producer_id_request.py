"""InitProducerIdRequest: request, key 22, versions 0-6, flexible from 2.

Generated from schemas/kafka/InitProducerIdRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_oo, pack_oo = wire.fused("??")
unpack_qh, pack_qh = wire.fused("qh")


class InitProducerIdRequest(Message):
    """InitProducerIdRequest, versions 0-6."""

    __slots__ = (
        "transactional_id",
        "transaction_timeout_ms",
        "producer_id",
        "producer_epoch",
        "enable2_pc",
        "keep_prepared_txn",
    )

    NAME = "InitProducerIdRequest"
    TYPE = "request"
    API_KEY = 22
    MIN_VERSION = 0
    MAX_VERSION = 6
    FLEXIBLE_FROM = 2
    FIELDS = (
        Field(
            "TransactionalId",
            "transactional_id",
            "string",
            (0, 6),
            nullable=(0, 6),
            default="",
            entity="transactionalId",
        ),
        Field("TransactionTimeoutMs", "transaction_timeout_ms", "int32", (0, 6), default=0),
        Field("ProducerId", "producer_id", "int64", (3, 6), default=-1, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (3, 6), default=-1),
        Field("Enable2Pc", "enable2_pc", "bool", (6, 6), default=False),
        Field("KeepPreparedTxn", "keep_prepared_txn", "bool", (6, 6), default=False),
    )

    def __init__(
        self,
        transactional_id: str | None = "",  # string, transactionalId
        transaction_timeout_ms: int = 0,  # int32
        producer_id: int = -1,  # int64, v3+, producerId
        producer_epoch: int = -1,  # int16, v3+
        enable2_pc: bool = False,  # bool, v6+
        keep_prepared_txn: bool = False,  # bool, v6+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        self.transaction_timeout_ms = transaction_timeout_ms
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.enable2_pc = enable2_pc
        self.keep_prepared_txn = keep_prepared_txn
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_nullable_string if version >= 2 else wire.nullable_string)(self.transactional_id))
        put(wire.pack_int32(self.transaction_timeout_ms))
        if version >= 3:
            put(pack_qh(self.producer_id, self.producer_epoch))
        elif self.producer_id != -1:
            raise wire.Unwritable
        if version < 3 and self.producer_epoch != -1:
            raise wire.Unwritable
        if version >= 6:
            put(pack_oo(self.enable2_pc, self.keep_prepared_txn))
        elif self.enable2_pc:
            raise wire.Unwritable
        if version < 6 and self.keep_prepared_txn:
            raise wire.Unwritable
        if version >= 2:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[InitProducerIdRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = (wire.read_compact_nullable_string if version >= 2 else wire.read_nullable_string)(buf, pos)
        (self.transaction_timeout_ms,) = wire.unpack_int32(buf, pos)
        pos += 4
        if version >= 3:
            self.producer_id, self.producer_epoch = unpack_qh(buf, pos)
            pos += 10
        else:
            self.producer_id = -1
            self.producer_epoch = -1
        if version >= 6:
            self.enable2_pc, self.keep_prepared_txn = unpack_oo(buf, pos)
            pos += 2
        else:
            self.enable2_pc = False
            self.keep_prepared_txn = False
        if version >= 2:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
