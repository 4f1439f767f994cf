"""BrokerRegistrationResponse: response, key 62, versions 0-4, flexible from 0.

Generated from schemas/kafka/BrokerRegistrationResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag

unpack_ihq, pack_ihq = wire.fused("ihq")


class BrokerRegistrationResponse(Message):
    """BrokerRegistrationResponse, versions 0-4."""

    __slots__ = ("throttle_time_ms", "error_code", "broker_epoch")

    NAME = "BrokerRegistrationResponse"
    TYPE = "response"
    API_KEY = 62
    MIN_VERSION = 0
    MAX_VERSION = 4
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 4), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 4), default=0),
        Field("BrokerEpoch", "broker_epoch", "int64", (0, 4), default=-1),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        broker_epoch: int = -1,  # int64
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.broker_epoch = broker_epoch
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ihq(self.throttle_time_ms, self.error_code, self.broker_epoch))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[BrokerRegistrationResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code, self.broker_epoch = unpack_ihq(buf, pos)
        pos += 14
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
