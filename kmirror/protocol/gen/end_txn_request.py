"""EndTxnRequest: request, key 26, versions 0-5, flexible from 3.

Generated from schemas/kafka/EndTxnRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_qho, pack_qho = wire.fused("qh?")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class EndTxnRequest(Message):
    """EndTxnRequest, versions 0-5."""

    transactional_id: str = ""  # string, transactionalId
    producer_id: int = 0  # int64, producerId
    producer_epoch: int = 0  # int16
    committed: bool = False  # bool

    NAME: ClassVar[str] = "EndTxnRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 26
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 5
    FLEXIBLE_FROM: ClassVar[int | None] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TransactionalId", "transactional_id", "string", (0, 5), default="", entity="transactionalId"),
        Field("ProducerId", "producer_id", "int64", (0, 5), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 5), default=0),
        Field("Committed", "committed", "bool", (0, 5), default=False),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.transactional_id))
        put(pack_qho(self.producer_id, self.producer_epoch, self.committed))
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndTxnRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.transactional_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        self.producer_id, self.producer_epoch, self.committed = unpack_qho(buf, pos)
        pos += 11
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
