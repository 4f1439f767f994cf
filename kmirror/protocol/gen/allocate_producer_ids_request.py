"""AllocateProducerIdsRequest: request, key 67, versions 0, flexible from 0.

Generated from schemas/kafka/AllocateProducerIdsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message

unpack_iq, pack_iq = wire.fused("iq")


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class AllocateProducerIdsRequest(Message):
    """AllocateProducerIdsRequest, versions 0."""

    broker_id: int = 0  # int32, brokerId
    broker_epoch: int = -1  # int64

    NAME: ClassVar[str] = "AllocateProducerIdsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 67
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("BrokerId", "broker_id", "int32", (0, 0), default=0, entity="brokerId"),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 0), default=-1),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.broker_id, self.broker_epoch))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AllocateProducerIdsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        self.broker_id, self.broker_epoch = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
