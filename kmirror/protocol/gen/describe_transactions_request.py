"""DescribeTransactionsRequest: request, key 65, versions 0, flexible from 0.

Generated from schemas/kafka/DescribeTransactionsRequest.json.
Change schemas/ or codegen/, then run python -m codegen.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from kmirror.protocol import wire
from kmirror.protocol.message import Field, Message


@dataclass(slots=True, repr=False, eq=False, kw_only=True)
class DescribeTransactionsRequest(Message):
    """DescribeTransactionsRequest, versions 0."""

    transactional_ids: list[str] = field(default_factory=list)  # []string, transactionalId

    NAME: ClassVar[str] = "DescribeTransactionsRequest"
    TYPE: ClassVar[str] = "request"
    API_KEY: ClassVar[int | None] = 65
    MIN_VERSION: ClassVar[int] = 0
    MAX_VERSION: ClassVar[int] = 0
    FLEXIBLE_FROM: ClassVar[int | None] = 0
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field(
            "TransactionalIds",
            "transactional_ids",
            "string",
            (0, 0),
            is_array=True,
            default=[],
            entity="transactionalId",
        ),
    )

    def _write(self, put: wire.Put, version: int) -> None:
        put(wire.compact_count(self.transactional_ids))
        for text in self.transactional_ids:
            put(wire.compact_string(text))
        if self.unknown_tags:
            wire.put_tags(put, (), self.unknown_tags, 0)
        else:
            put(b"\0")

    @classmethod
    def _read(cls, buf: Any, pos: int, version: int) -> tuple[DescribeTransactionsRequest, int]:
        self = cls.__new__(cls)
        self.unknown_tags = ()
        n, pos = wire.read_compact_count(buf, pos, 1)
        self.transactional_ids, pos = wire.read_many(wire.read_compact_string, buf, pos, n)
        if buf[pos]:
            pos = wire.read_unknown_tags(self, buf, pos)
        else:
            pos += 1
        return self, pos
