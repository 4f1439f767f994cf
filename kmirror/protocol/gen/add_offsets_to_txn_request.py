"""AddOffsetsToTxnRequest: request, key 25, versions 0-4, flexible from 3.

Generated from schemas/kafka/AddOffsetsToTxnRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_qh, pack_qh = wire.fused("qh")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AddOffsetsToTxnRequest(Message):
    """AddOffsetsToTxnRequest, versions 0-4."""

    transactional_id: str = ""  # string, transactionalId
    producer_id: int = 0  # int64, producerId
    producer_epoch: int = 0  # int16
    group_id: str = ""  # string, groupId

    NAME: ClassVar[str] = "AddOffsetsToTxnRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 25
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 4
    FLEXIBLE_FROM: ClassVar[int | None] = 3
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("TransactionalId", "transactional_id", "string", (0, 4), default="", entity="transactionalId"),
        Field("ProducerId", "producer_id", "int64", (0, 4), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 4), default=0),
        Field("GroupId", "group_id", "string", (0, 4), default="", entity="groupId"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.transactional_id))
        put(pack_qh(self.producer_id, self.producer_epoch))
        put((wire.compact_string if version >= 3 else wire.string)(self.group_id))
        if version >= 3:
            if self.unknown_tags:
                wire.put_tags(put, (), self.unknown_tags, 0)
            else:
                put(b"\0")
        elif self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddOffsetsToTxnRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.transactional_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        self.producer_id, self.producer_epoch = unpack_qh(buf, pos)
        pos += 10
        self.group_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        if version >= 3:
            if buf[pos]:
                pos = wire.read_unknown_tags(self, buf, pos)
            else:
                pos += 1
        return self, pos
