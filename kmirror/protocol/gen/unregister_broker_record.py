"""UnregisterBrokerRecord: metadata, key 1, versions 0, flexible from 0.

Generated from schemas/metadata/UnregisterBrokerRecord.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_iq, pack_iq = wire.fused("iq")


class UnregisterBrokerRecord(Message):
    """UnregisterBrokerRecord, versions 0."""

    __slots__ = ("broker_id", "broker_epoch")

    NAME = "UnregisterBrokerRecord"
    TYPE = "metadata"
    API_KEY = 1
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("BrokerId", "broker_id", "int32", (0, 0), default=0, entity="brokerId"),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 0), default=0),
    )

    def __init__(
        self,
        broker_id: int = 0,  # int32, brokerId
        broker_epoch: int = 0,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.broker_id = broker_id
        self.broker_epoch = broker_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_iq(self.broker_id, self.broker_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UnregisterBrokerRecord, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.broker_id, self.broker_epoch = unpack_iq(buf, pos)
        pos += 12
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
