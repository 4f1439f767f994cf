"""InitProducerIdRequest: request, key 22, versions 0-6, flexible from 2.

Generated from schemas/kafka/InitProducerIdRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_oo, pack_oo = wire.fused("??")
unpack_qh, pack_qh = wire.fused("qh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class InitProducerIdRequest(Message):
    """InitProducerIdRequest, versions 0-6."""

    transactional_id: str | None = ""  # string, transactionalId
    transaction_timeout_ms: int = 0  # int32
    producer_id: int = -1  # int64, v3+, producerId
    producer_epoch: int = -1  # int16, v3+
    enable2_pc: bool = False  # bool, v6+
    keep_prepared_txn: bool = False  # bool, v6+

    NAME: ClassVar[str] = "InitProducerIdRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 22
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 6
    FLEXIBLE_FROM: ClassVar[int | None] = 2
    FIELDS: ClassVar[tuple[Field, ...]] = (
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
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[InitProducerIdRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
