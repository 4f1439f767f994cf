"""AddOffsetsToTxnRequest: request, key 25, versions 0-4, flexible from 3.

Generated from schemas/kafka/AddOffsetsToTxnRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_qh, pack_qh = wire.fused("qh")


class AddOffsetsToTxnRequest(Message):
    """AddOffsetsToTxnRequest, versions 0-4."""

    __slots__ = ("transactional_id", "producer_id", "producer_epoch", "group_id")

    NAME = "AddOffsetsToTxnRequest"
    TYPE = "request"
    API_KEY = 25
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("TransactionalId", "transactional_id", "string", (0, 4), default="", entity="transactionalId"),
        Field("ProducerId", "producer_id", "int64", (0, 4), default=0, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (0, 4), default=0),
        Field("GroupId", "group_id", "string", (0, 4), default="", entity="groupId"),
    )

    def __init__(
        self,
        transactional_id: str = "",  # string, transactionalId
        producer_id: int = 0,  # int64, producerId
        producer_epoch: int = 0,  # int16
        group_id: str = "",  # string, groupId
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        self.group_id = group_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put((wire.compact_string if version >= 3 else wire.string)(self.transactional_id))
        put(pack_qh(self.producer_id, self.producer_epoch))
        put((wire.compact_string if version >= 3 else wire.string)(self.group_id))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[AddOffsetsToTxnRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        self.producer_id, self.producer_epoch = unpack_qh(buf, pos)
        pos += 10
        self.group_id, pos = (wire.read_compact_string if version >= 3 else wire.read_string)(buf, pos)
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
