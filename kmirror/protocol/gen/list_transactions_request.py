"""ListTransactionsRequest: request, key 66, versions 0-2, flexible from 0.

Generated from schemas/kafka/ListTransactionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class ListTransactionsRequest(Message):
    """ListTransactionsRequest, versions 0-2."""

    state_filters: list[str] = field(default_factory=list)  # []string
    producer_id_filters: list[int] = field(default_factory=list)  # []int64, producerId
    duration_filter: int = -1  # int64, v1+
    transactional_id_pattern: str | None = None  # string, v2+

    NAME: ClassVar[str] = "ListTransactionsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 66
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 2
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
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
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[ListTransactionsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
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
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
