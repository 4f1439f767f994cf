"""ProducerIdsRecord: metadata, key 15, versions 0, flexible from 0.

Generated from schemas/metadata/ProducerIdsRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_iqq, pack_iqq = wire.fused("iqq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ProducerIdsRecord(Message):
    """ProducerIdsRecord, versions 0."""

    broker_id: int = 0  # int32, brokerId
    broker_epoch: int = -1  # int64
    next_producer_id: int = 0  # int64

    NAME: ClassVar[str] = "ProducerIdsRecord"
    TYPE: ClassVar[str] = "metadata"
    API_KEY: ClassVar[int | None] = 15
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("BrokerId", "broker_id", "int32", (0, 0), default=0, entity="brokerId"),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 0), default=-1),
        Field("NextProducerId", "next_producer_id", "int64", (0, 0), default=0),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iqq(self.broker_id, self.broker_epoch, self.next_producer_id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ProducerIdsRecord, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.broker_id, self.broker_epoch, self.next_producer_id = unpack_iqq(buf, pos)
        pos += 20
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
