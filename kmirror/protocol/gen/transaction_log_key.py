"""TransactionLogKey: coordinator-key, key 0, versions 0, never flexible.

Generated from schemas/coordinator/TransactionLogKey.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field
from kmirror.protocol.wire import UnknownTag


class TransactionLogKey(Message):
    """TransactionLogKey, versions 0."""

    __slots__ = ("transactional_id",)

    NAME = "TransactionLogKey"
    TYPE = "coordinator-key"
    API_KEY = 0
    MIN_VERSION = 0
    MAX_VERSION = 0
    FLEXIBLE_FROM = None
    FIELDS = (
        Field("TransactionalId", "transactional_id", "string", (0, 0), default=""),
    )

    def __init__(
        self,
        transactional_id: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.string(self.transactional_id))
        if self._tagged and self.unknown_tags:
            raise wire.Unwritable

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TransactionLogKey, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = wire.read_string(buf, pos)
        return self, pos
