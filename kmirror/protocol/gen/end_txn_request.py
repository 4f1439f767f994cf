"""EndTxnRequest: request, key 26, versions 0-5, flexible from 3.

Generated from schemas/kafka/EndTxnRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_qho, pack_qho = wire.fused("qh?")


class EndTxnRequest(Message):
    """EndTxnRequest, versions 0-5."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "committed")

    NAME = "EndTxnRequest"
    TYPE = "request"
    API_KEY = 26
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("TransactionalId", "transactional_id", "string", (0, 5), default="", entity="transactionalId"),
        Field("ProducerId", "producer_id", "int64", (0, 5), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 5), default=0),
        Field("Committed", "committed", "bool", (0, 5), default=False),
    )

    def __init__(
        self,
        transactional_id: str = "",  # string, transactionalId
        producer_id: int = 0,  # int64, producerId
        producer_epoch: int = 0,  # int16
        committed: bool = False,  # bool
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.committed = committed
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.transactional_id))
        put(pack_qho(self.producer_id, self.producer_epoch, self.committed))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndTxnRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        self.producer_id, self.producer_epoch, self.committed = unpack_qho(buf, pos)
        pos += 11
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
