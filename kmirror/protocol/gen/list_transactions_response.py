"""ListTransactionsResponse: response, key 66, versions 0-2, flexible from 0.

Generated from schemas/kafka/ListTransactionsResponse.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, Struct, UNSET
from kmirror.protocol.wire import UnknownTag

unpack_ih, pack_ih = wire.fused("ih")


class TransactionState(Struct):
    """Part of ListTransactionsResponse."""

    __slots__ = ("transactional_id", "producer_id", "transaction_state")

    FIELDS = (
        Field("TransactionalId", "transactional_id", "string", (0, 2), default="", entity="transactionalId"),
        Field("ProducerId", "producer_id", "int64", (0, 2), default=0, entity="producerId"),
        Field("TransactionState", "transaction_state", "string", (0, 2), default=""),
    )

    def __init__(
        self,
        transactional_id: str = "",  # string, transactionalId
        producer_id: int = 0,  # int64, producerId
        transaction_state: str = "",  # string
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.transactional_id = transactional_id
        self.producer_id = producer_id
        self.transaction_state = transaction_state
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_string(self.transactional_id))
        put(wire.pack_int64(self.producer_id))
        put(wire.compact_string(self.transaction_state))
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[TransactionState, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.transactional_id, pos = wire.read_compact_string(buf, pos)
        (self.producer_id,) = wire.unpack_int64(buf, pos)
        pos += 8
        self.transaction_state, pos = wire.read_compact_string(buf, pos)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos


class ListTransactionsResponse(Message):
    """ListTransactionsResponse, versions 0-2."""

    __slots__ = ("throttle_time_ms", "error_code", "unknown_state_filters", "transaction_states")

    NAME = "ListTransactionsResponse"
    TYPE = "response"
    API_KEY = 66
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("ThrottleTimeMs", "throttle_time_ms", "int32", (0, 2), default=0),
        Field("ErrorCode", "error_code", "int16", (0, 2), default=0),
        Field("UnknownStateFilters", "unknown_state_filters", "string", (0, 2), is_array=True, default=[]),
        Field(
            "TransactionStates",
            "transaction_states",
            "struct",
            (0, 2),
            is_array=True,
            default=[],
            struct=TransactionState,
        ),
    )

    def __init__(
        self,
        throttle_time_ms: int = 0,  # int32
        error_code: int = 0,  # int16
        unknown_state_filters: list[str] = UNSET,  # []string
        transaction_states: list[TransactionState] = UNSET,  # []TransactionState
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.unknown_state_filters = [] if unknown_state_filters is UNSET else unknown_state_filters
        self.transaction_states = [] if transaction_states is UNSET else transaction_states
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(pack_ih(self.throttle_time_ms, self.error_code))
        put(wire.compact_count(self.unknown_state_filters))
        for text in self.unknown_state_filters:
            put(wire.compact_string(text))
        put(wire.compact_count(self.transaction_states))
        for transaction_state in self.transaction_states:
            transaction_state._write(put, version)
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListTransactionsResponse, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        self.throttle_time_ms, self.error_code = unpack_ih(buf, pos)
        pos += 6
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.unknown_state_filters, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        n, pos = wire.read_compact_count(buf, pos, 11)
        self.transaction_states, pos = wire.read_structs(TransactionState._read, buf, pos, n, version)
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
