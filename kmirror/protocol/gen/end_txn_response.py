"""EndTxnResponse: response, key 26, versions 0-5, flexible from 3.

Generated from schemas/kafka/EndTxnResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")
unpack_qh, pack_qh = wire.fused("qh")


class EndTxnResponse(Message):
    """EndTxnResponse, versions 0-5."""

    __slots__ = ("throttle_time_ms", "error_code", "producer_id", "producer_epoch")

    NAME = "EndTxnResponse"
    TYPE = "response"
    API_KEY = 26
    MIN_VERSION = 0
    MAX_VERSION = 5
    FLEXIBLE_FROM = 3
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 5), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 5), default=0),
        Field("ProducerId", "producer_id", "int64", (5, 5), default=-1, ignorable=True, entity="producerId"),
        Field("ProducerEpoch", "producer_epoch", "int16", (5, 5), default=-1, ignorable=True),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        producer_id: int = -1,  # int64, v5+, ignorable, producerId
        producer_epoch: int = -1,  # int16, v5+, ignorable
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.producer_id = producer_id
        self.producer_epoch = producer_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        if version >= 5:
            put(pack_qh(self.producer_id, self.producer_epoch))
        if version >= 3:
            if self._tagged:
                self._write_tags(put, version)
            else:
                put(b"\0")
        elif self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[EndTxnResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        if version >= 5:
            self.producer_id, self.producer_epoch = unpack_qh(buf, pos)
            pos += 10
        else:
            self.producer_id = -1
            self.producer_epoch = -1
        if version >= 3:
            if buf[pos]:
                self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
            else:
                pos += 1
        return self, pos
