"""UnregisterBrokerRequest: request, key 64, versions 0, flexible from 0.

Generated from schemas/kafka/UnregisterBrokerRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class UnregisterBrokerRequest(Message):
    """UnregisterBrokerRequest, versions 0."""

    broker_id: int = 0  # int32, brokerId

    NAME: ClassVar[str] = "UnregisterBrokerRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 64
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("BrokerId", "broker_id", "int32", (0, 0), default=0, entity="brokerId"),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.pack_int32(self.broker_id))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[UnregisterBrokerRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        (self.broker_id,) = wire.unpack_int32(buf, pos)
        pos += 4
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
