"""ListTransactionsRequest: request, key 66, versions 0-2, flexible from 0.

Generated from schemas/kafka/ListTransactionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kmirror.protocol import wire
from kmirror.protocol.message import Message
from kmirror.protocol.structs import Field, UNSET
from kmirror.protocol.wire import UnknownTag


class ListTransactionsRequest(Message):
    """ListTransactionsRequest, versions 0-2."""

    __slots__ = ("state_filters", "producer_id_filters", "duration_filter", "transactional_id_pattern")

    NAME = "ListTransactionsRequest"
    TYPE = "request"
    API_KEY = 66
    MIN_VERSION = 0
    MAX_VERSION = 2
    FLEXIBLE_FROM = 0
    FIELDS = (
        Field("StateFilters", "state_filters", "string", (0, 2), is_array=True, default=[]),
        Field(
            "ProducerIdFilters",
            "producer_id_filters",
            "int64",
            (0, 2),
            is_array=True,
            default=[],
            entity="producerId",
        ),
        Field("DurationFilter", "duration_filter", "int64", (1, 2), default=-1),
        Field("TransactionalIdPattern", "transactional_id_pattern", "string", (2, 2), nullable=(2, 2)),
    )

    def __init__(
        self,
        state_filters: list[str] = UNSET,  # []string
        producer_id_filters: list[int] = UNSET,  # []int64, producerId
        duration_filter: int = -1,  # int64, v1+
        transactional_id_pattern: str | None = None,  # string, v2+
        unknown_tags: Sequence[UnknownTag] = (),
    ) -> None:
        self._tagged = 0
        self.state_filters = [] if state_filters is UNSET else state_filters
        self.producer_id_filters = [] if producer_id_filters is UNSET else producer_id_filters
        self.duration_filter = duration_filter
        self.transactional_id_pattern = transactional_id_pattern
        if unknown_tags:
            self.unknown_tags = unknown_tags

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.state_filters))
        for text in self.state_filters:
            put(wire.compact_string(text))
        put(wire.compact_count(self.producer_id_filters))
        put(wire.numbers(self.producer_id_filters, "q"))
        if version >= 1:
            put(wire.pack_int64(self.duration_filter))
        elif self.duration_filter != -1:
            raise wire.Unwritable
        if version >= 2:
            put(wire.compact_nullable_string(self.transactional_id_pattern))
        elif self.transactional_id_pattern is not None:
            raise wire.Unwritable
        if self._tagged:
            self._write_tags(put, version)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListTransactionsRequest, int]:
        self = cls.__new__(cls)
        self._tagged = 0
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.state_filters, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        n, pos = wire.read_compact_count(buf, pos, 8)
        self.producer_id_filters, pos = wire.read_numbers(buf, pos, n, "q", 8)
        if version >= 1:
            (self.duration_filter,) = wire.unpack_int64(buf, pos)
            pos += 8
        else:
            self.duration_filter = -1
        if version >= 2:
            self.transactional_id_pattern, pos = wire.read_compact_nullable_string(buf, pos)
        else:
            self.transactional_id_pattern = None
        if buf[pos]:
            self.unknown_tags, pos = wire.read_unknown_tags(buf, pos)
        else:
            pos += 1
        return self, pos
